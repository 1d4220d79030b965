// Who the ranks are: said once, and again after a call that has failed. What is left in the communicator before, nobody
// receives any more: plans are made anew. Its groups stay; to free them, all their members would have to agree.

extern "C" __attribute__((visibility("default"))) void dcpy_ranks_attach(int communicator)
{
#ifdef DCPY_ALONE
    (void)communicator;
#else
    MPI_Comm joined = MPI_Comm_f2c(MPI_Fint(communicator));
    if (joined == dcpy::world) return;
    for (dcpy::Plan *plan : dcpy::plans) dcpy::release(plan);
    for (dcpy::Exchange &exchange : dcpy::exchanges) dcpy::release(exchange);
    for (dcpy::Group &group : dcpy::groups) group.numbers.release();
    dcpy::plans.release();
    dcpy::exchanges.release();
    dcpy::groups.release();
    dcpy::oldest_plan = dcpy::oldest_exchange = 0;
    dcpy::world = joined;
    MPI_Comm_set_errhandler(dcpy::world, MPI_ERRORS_RETURN);
#endif
}

// Ranks that wait for more than some seconds say where and end the job; collectives are compared before they begin.
extern "C" __attribute__((visibility("default"))) void dcpy_ranks_watch(int seconds, int checks)
{
#ifdef DCPY_ALONE
    (void)seconds, (void)checks;
#else
    dcpy::checks = checks != 0;
    dcpy::start_watching(seconds);
#endif
}
