"""All that dcpy's own libraries consist of, as ``"module:attribute"`` strings: nodes, expansions, environments, idioms.

`dcpy.plugins` puts these tables into the registries; a test asserts that they are complete. To add an operation, add
its node to a folder like `libraries.reduce` and its lines here.
"""

from __future__ import annotations

_REDUCE = "dcpy.libraries.reduce"
_SCAN = "dcpy.libraries.scan"
_BLAS = "dcpy.libraries.blas"
_LAPACK = "dcpy.libraries.lapack"
_RANDOM = "dcpy.libraries.random"
_FFT = "dcpy.libraries.fft"
_SORTING = "dcpy.libraries.sorting"
_INDEXING = "dcpy.libraries.indexing"
_VENDOR = "dcpy.libraries.vendor"
_MPI = "dcpy.libraries.mpi"
_PBLAS = "dcpy.libraries.pblas"
_COLLECTIVES = (
    "barrier", "bcast", "reduce", "allreduce", "scan", "exscan", "scatter", "gather", "allgather", "alltoall",
    "reduce_scatter", "place", "cart",
)  # fmt: skip
_MESSAGES = ("send", "recv", "sendrecv", "isend", "irecv", "wait")
_SOLVERS = ("cholesky", "lu", "lu_solve", "solve_triangular", "solve", "inverse", "qr")
_ON_GRIDS = ("cholesky", "solve", "inverse", "slogdet")
_DECOMPOSITIONS = ("svd", "eigh", "eig", "lstsq")
_RANDOMS = ("seed", "draw", "vectors", "permutation", "sample")

#: kind of a library node -> its class (`dcpy.ir.library.library_kinds.LIBRARY_KINDS`)
NODES: dict[str, str] = {
    "reduce": f"{_REDUCE}.nodes:Reduce",
    "argreduce": f"{_REDUCE}.nodes:ArgReduce",
    "scan": f"{_SCAN}.nodes:Scan",
    "blas.matmul": f"{_BLAS}.nodes:MatMul",
    "blas.gemm": f"{_BLAS}.nodes:Gemm",
    "blas.batched_gemm": f"{_BLAS}.nodes:BatchedGemm",
    "blas.gemv": f"{_BLAS}.nodes:Gemv",
    "blas.dot": f"{_BLAS}.nodes:Dot",
    "blas.ger": f"{_BLAS}.nodes:Ger",
    "blas.gemv_pair": f"{_BLAS}.nodes:GemvPair",
    "pblas.gemm": f"{_PBLAS}.nodes:ProductOnGrid",
    **{f"pblas.{node}": f"{_PBLAS}.solvers:{node.title()}OnGrid" for node in _ON_GRIDS},
    "lapack.slogdet": f"{_LAPACK}.nodes:Slogdet",
    "fft.transform": f"{_FFT}.nodes:Transform",
    "sort": f"{_SORTING}.nodes:Sort",
    "argsort": f"{_SORTING}.nodes:ArgSort",
    "partition": f"{_SORTING}.nodes:RankPartition",
    "indexing.nonzero": f"{_INDEXING}.nodes:Nonzero",
    "indexing.compress": f"{_INDEXING}.nodes:Compress",
    "indexing.masked_store": f"{_INDEXING}.nodes:MaskedStore",
    "indexing.gather": f"{_INDEXING}.nodes:Gather",
    "indexing.scatter": f"{_INDEXING}.nodes:Scatter",
    **{f"lapack.{node}": f"{_LAPACK}.nodes:{node.title().replace('_', '')}" for node in (*_SOLVERS, *_DECOMPOSITIONS)},
    **{f"random.{node}": f"{_RANDOM}.nodes:{node.title()}" for node in _RANDOMS},
    **{f"comm.{node}": f"{_MPI}.nodes:{node.title().replace('_', '')}" for node in _COLLECTIVES},
    **{f"comm.{node}": f"{_MPI}.messages:{node.title()}" for node in _MESSAGES},
    "comm.copy": f"{_MPI}.distributed_copies:DistributedCopy",
    "comm.begin_exchange": f"{_MPI}.distributed_copies:BeginExchange",
    "comm.end_exchange": f"{_MPI}.distributed_copies:EndExchange",
    "comm.exchange": f"{_MPI}.distributed_copies:Exchange",
    "comm.update": "dcpy.ir.communication:HaloUpdate",
    "comm.distribute": "dcpy.ir.communication:Distribute",
}

#: kind/name -> the expansion (`dcpy.ir.library.expansions.EXPANSIONS`)
EXPANSIONS: dict[str, str] = {
    "reduce/cpu": f"{_REDUCE}.expand.cpu:reduce_loops",
    "reduce/maps": f"{_REDUCE}.expand.maps:reduce_maps",
    "reduce/device": f"{_REDUCE}.expand.device:reduce_device",
    "argreduce/cpu": f"{_REDUCE}.expand.cpu:argreduce_loops",
    "argreduce/maps": f"{_REDUCE}.expand.maps:argreduce_maps",
    "scan/maps": f"{_SCAN}.expand.maps:scan_maps",
    "scan/device": f"{_SCAN}.expand.device:scan_device",
    "blas.matmul/specialize": f"{_BLAS}.expand.matmul:matmul_as_blas",
    **{
        f"blas.{node}/{name}": f"{_BLAS}.expand.{name}:{node}"
        for node in ("gemm", "gemv", "dot", "ger")
        for name in ("mkl", "openblas", "cpu", "maps")
        if (node, name) != ("ger", "cpu")
    },
    "blas.gemv_pair/device": f"{_BLAS}.expand.fused_gemv_pair_blocks:gemv_pair",
    "blas.gemv_pair/cpu": f"{_BLAS}.expand.fused_gemv_pair_loops:gemv_pair",
    "blas.gemv_pair/maps": f"{_BLAS}.expand.fused_gemv_pair_blocks:gemv_pair_apart",
    "sort/radix": f"{_SORTING}.expand.radix:sort_rows",
    "sort/maps": f"{_SORTING}.expand.maps:sort_rows",
    "argsort/radix": f"{_SORTING}.expand.radix:argsort_rows",
    "argsort/maps": f"{_SORTING}.expand.maps:argsort_rows",
    "partition/selection": f"{_SORTING}.expand.radix:partition_rows",
    "partition/maps": f"{_SORTING}.expand.maps:partition_rows",
    **{
        f"indexing.{node}/{name}": f"{_INDEXING}.expand.{name}:{node}"
        for node in ("nonzero", "compress", "masked_store")
        for name in ("cpu", "maps", "device")
    },
    "indexing.gather/cpu": f"{_INDEXING}.expand.index_arrays:gather",
    "indexing.gather/maps": f"{_INDEXING}.expand.index_arrays:gather_maps",
    "indexing.scatter/maps": f"{_INDEXING}.expand.index_arrays:scatter",
    "fft.transform/fftw": f"{_FFT}.expand.fftw:transform",
    "fft.transform/cpu": f"{_FFT}.expand.program_calls:transform",
    "fft.transform/maps": f"{_FFT}.expand.program_calls:transform_maps",
    "lapack.slogdet/maps": f"{_LAPACK}.expand.maps:slogdet",
    **{f"lapack.{node}/registers": f"{_LAPACK}.expand.registers:{node}" for node in ("solve", "inverse")},
    **{f"lapack.{node}/openblas": f"{_LAPACK}.expand.openblas:{node}" for node in (*_SOLVERS, *_DECOMPOSITIONS)},
    **{f"lapack.{node}/maps": f"{_LAPACK}.expand.maps:{node}" for node in _SOLVERS},
    "blas.batched_gemm/cublas": f"{_BLAS}.expand.cublas:batched_gemm",
    "blas.batched_gemm/maps": f"{_BLAS}.expand.cublas:batched_gemm_apart",
    "blas.gemm/cublas": f"{_BLAS}.expand.cublas:gemm",
    **{f"blas.{node}/cublas-vectors": f"{_BLAS}.expand.cublas:{node}" for node in ("gemv", "dot", "ger")},
    "lapack.solve_triangular/cublas": f"{_LAPACK}.expand.cusolver:solve_triangular",
    **{
        f"lapack.{node}/cusolver": f"{_LAPACK}.expand.cusolver:{node}"
        for node in ("cholesky", "lu", "lu_solve", "solve", "inverse")
    },
    **{
        f"lapack.{node}/cusolver": f"{_LAPACK}.expand.cusolver_decompositions:{node}" for node in ("qr", "eigh", "svd")
    },
    "fft.transform/cufft": f"{_FFT}.expand.cufft:transform",
    **{f"random.{node}/numpy": f"{_RANDOM}.expand.numpy:{node}" for node in _RANDOMS},
    "pblas.gemm/scalapack-mkl": f"{_PBLAS}.expand.scalapack:gemm_mkl",
    "pblas.gemm/scalapack": f"{_PBLAS}.expand.scalapack:gemm",
    **{
        f"pblas.{node}/{name}": f"{_PBLAS}.expand.solvers:{node}{end}"
        for node in _ON_GRIDS
        for name, end in (("scalapack-mkl", "_mkl"), ("scalapack", ""), ("gathered", "_gathered"))
    },
    "blas.gemm/systolic": f"{_BLAS}.expand.systolic_arrays:gemm",
    "pblas.gemm/summa": f"{_PBLAS}.expand.summa:gemm",
    "comm.distribute/copy": f"{_MPI}.expand.distribute:copy",
    "comm.copy/mpi": f"{_MPI}.expand.distributed_copies:copy",
    "comm.copy/alone": f"{_MPI}.expand.distributed_copies:copy_alone",
    "comm.begin_exchange/mpi": f"{_MPI}.expand.distributed_copies:begin",
    "comm.begin_exchange/alone": f"{_MPI}.expand.distributed_copies:begin_alone",
    "comm.end_exchange/mpi": f"{_MPI}.expand.distributed_copies:end",
    "comm.end_exchange/alone": f"{_MPI}.expand.distributed_copies:end_alone",
    "comm.exchange/mpi": f"{_MPI}.expand.distributed_copies:exchange",
    "comm.exchange/alone": f"{_MPI}.expand.distributed_copies:exchange_alone",
    **{
        f"comm.{node}/{name}": f"{_MPI}.expand.{family}:{node}{end}"
        for family, members in (("collectives", _COLLECTIVES), ("messages", _MESSAGES))
        for node in members
        for name, end in (("mpi", ""), ("alone", "_alone"))
    },
}

#: name of an environment -> the foreign library (`dcpy.ir.library.expansions.ENVIRONMENTS`)
ENVIRONMENTS: dict[str, str] = {
    "openblas": f"{_BLAS}.environments:OPENBLAS",
    "mkl": f"{_BLAS}.environments:MKL",
    "fftw": f"{_FFT}.environments:FFTW",
    "sorting.h": f"{_SORTING}.expand.radix:RADIX",
    "lapack.openblas": f"{_LAPACK}.environments:OPENBLAS",
    "gpu.blas": f"{_VENDOR}.environments:BLAS",
    "gpu.solver": f"{_VENDOR}.environments:SOLVER",
    "gpu.fft": f"{_VENDOR}.environments:FFT",
    "numpy.random": f"{_RANDOM}.environments:LIBRARY_OF_NUMPY",
    "mpi": f"{_MPI}.environments:MPI_LIBRARY",
    "mpi.alone": f"{_MPI}.environments:NOBODY",
    "scalapack-mkl": f"{_PBLAS}.environments:SCALAPACK_OF_MKL",
    "scalapack": f"{_PBLAS}.environments:SCALAPACK",
}

#: name -> the transformation that knows a library's nodes (`dcpy.transforms.catalog.TRANSFORMATIONS`)
TRANSFORMATIONS: dict[str, str] = {
    "specialize-matmul": f"{_BLAS}.passes.gemm_epilogues:SpecializeMatMul",
    "fold-transpose": f"{_BLAS}.passes.gemm_epilogues:FoldTranspose",
    "fold-factor": f"{_BLAS}.passes.gemm_epilogues:FoldFactor",
    "fold-sum": f"{_BLAS}.passes.gemm_epilogues:FoldSum",
    "merge-stacked-products": f"{_BLAS}.passes.stacked_products:MergeStackedProducts",
    "single-pass-products": f"{_BLAS}.passes.fused_products:SinglePassProducts",
    "updated-product": f"{_BLAS}.passes.gemv_producer_fusion:UpdatedProduct",
    "batch-products": f"{_BLAS}.passes.batched_products:BatchProducts",
    "gemv-from-dots": f"{_BLAS}.passes.dot_ger_recognition:GemvFromDots",
    "gemm-from-vectors": f"{_BLAS}.passes.dot_ger_recognition:GemmFromVectors",
    "right-looking-updates": f"{_BLAS}.passes.right_looking_updates:RightLookingUpdates",
    "blocked-recurrences": f"{_BLAS}.passes.blocked_recurrences:BlockedRecurrences",
    "gemm-recognition": f"{_BLAS}.passes.gemm_recognition:GemmRecognition",
    "gemm-from-inner-sums": f"{_BLAS}.passes.gemm_from_inner_sums:GemmFromInnerSums",
    "gemm-from-sums": f"{_BLAS}.passes.gemm_from_sums:GemmFromSums",
    "narrow-product": f"{_BLAS}.passes.stacked_products:NarrowProduct",
    "loop-over-decompositions": f"{_LAPACK}.loop_over_decompositions:LoopOverDecompositions",
    "masked-update-to-predicated-map": f"{_INDEXING}.passes.masked_update:MaskedUpdateToPredicatedMap",
    "masked-reduction": f"{_REDUCE}.masked_reduction:MaskedReduction",
    "compaction-to-points": f"{_INDEXING}.passes.compaction_to_points:CompactionToPoints",
    "merge-compressions": f"{_INDEXING}.passes.merge_compressions:MergeCompressions",
}

#: kind of a library node -> its derivatives (`dcpy.ir.library.adjoints.DERIVATIVES`)
DERIVATIVES: dict[str, str] = {
    "reduce": f"{_REDUCE}.adjoint:REDUCE",
    "scan": f"{_SCAN}.adjoint:SCAN",
    "fft.transform": f"{_FFT}.adjoint:TRANSFORM",
    "indexing.gather": f"{_INDEXING}.adjoint:SELECTION",
    "blas.matmul": f"{_BLAS}.adjoint:MATMUL",
    "blas.dot": f"{_BLAS}.adjoint:DOT",
    **{f"blas.{node}": f"{_BLAS}.adjoint:SCALED" for node in ("gemm", "batched_gemm", "gemv", "ger")},
}

#: library, or with /late, /raising or /TARGET -> the pipeline of its idioms (`dcpy.transforms.catalog.LIBRARY_IDIOMS`)
IDIOMS: dict[str, str] = {
    "blas": f"{_BLAS}.passes.gemm_epilogues:FOLD_PRODUCTS",
    "blas/cpu": f"{_BLAS}.passes.blocked_recurrences:LIFT_PRODUCTS",
    "blas/raising": f"{_BLAS}.passes.gemm_from_inner_sums:RAISE_PRODUCTS",
    "blas/gpu": f"{_BLAS}.passes.fused_products:FOR_DEVICES",
    "lapack/gpu": f"{_LAPACK}.loop_over_decompositions:FOR_DEVICES",
    "indexing": f"{_INDEXING}.passes.merge_compressions:INDEXING",
    "indexing/cpu": f"{_INDEXING}.passes.merge_compressions:ON_CPUS",
    "indexing/late": f"{_INDEXING}.passes.merge_compressions:AFTER_FUSION",
}
