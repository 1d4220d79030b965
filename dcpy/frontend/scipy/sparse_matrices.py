"""Sparse matrices of SciPy as arguments: their classes in a program, and their methods.

A matrix is its arrays and its shape, which are passed as the fields of a frozen dataclass object are (decision 0026).
The methods here are lowered like a user's. SciPy need not be there; no element of a matrix is ever written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.frontend.abstract_values.values import Value
from dcpy.frontend.implements import operation

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder


def _require_vectors(columns: Any, other: Any) -> None:
    if other.ndim > 2 or other.ndim == 0 or other.shape[0] != columns:
        raise ValueError("dimension mismatch")


def _by_rows(a: Any, rows: Any, other: Any) -> Any:
    """``a @ other``, where `a` is stored by rows: each element of the result is a sum of its own."""
    x = np.asarray(other)
    dtype = np.result_type(a.data, x)
    if x.ndim == 1:
        y = np.empty(rows, dtype)
        for i in range(rows):
            total = np.zeros((), dtype)[()]
            for k in range(a.indptr[i], a.indptr[i + 1]):
                total += a.data[k] * x[a.indices[k]]
            y[i] = total
        return y
    found = np.zeros((rows, x.shape[1]), dtype)
    for i in range(rows):
        for k in range(a.indptr[i], a.indptr[i + 1]):
            found[i, :] += a.data[k] * x[a.indices[k], :]
    return found


def _by_columns(a: Any, rows: Any, columns: Any, other: Any) -> Any:
    """``a @ other``, where `a` is stored by columns: each adds to all of the result."""
    x = np.asarray(other)
    dtype = np.result_type(a.data, x)
    if x.ndim == 1:
        y = np.zeros(rows, dtype)
        for j in range(columns):
            for k in range(a.indptr[j], a.indptr[j + 1]):
                y[a.indices[k]] += a.data[k] * x[j]
        return y
    found = np.zeros((rows, x.shape[1]), dtype)
    for j in range(columns):
        for k in range(a.indptr[j], a.indptr[j + 1]):
            found[a.indices[k], :] += a.data[k] * x[j, :]
    return found


@operation
def refuse(b: OpBuilder) -> Value:
    """The error of everything that sparse matrices do not do in programs."""
    raise b.error(
        "this operation of sparse matrices is not compiled",
        notes=("programs take products with dense vectors and matrices, .T, .toarray(), .diagonal() and .nnz",),
        help="compute it outside of the program, or with the arrays .data, .indices and .indptr",
    )


@dataclass(frozen=True)
class Sparse:
    """Sparse matrix of either format in a program, and refusals of unsupported operations."""

    data: Any
    indices: Any
    indptr: Any
    shape: tuple[Any, Any]

    def dot(self, other: Any) -> Any:
        """``self @ other``."""
        return self @ other

    def transpose(self) -> Sparse:
        """The same arrays, read the other way."""
        raise NotImplementedError

    @property
    def T(self) -> Sparse:
        """The transpose."""
        return self.transpose()

    @property
    def nnz(self) -> Any:
        """Number of stored elements."""
        return int(self.indptr[-1])

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.data.dtype

    def __add__(self, other: Any) -> Any:
        return refuse()

    def __sub__(self, other: Any) -> Any:
        return refuse()

    def __mul__(self, other: Any) -> Any:
        return refuse()

    def __rmul__(self, other: Any) -> Any:
        return refuse()

    def __truediv__(self, other: Any) -> Any:
        return refuse()

    def __neg__(self) -> Any:
        return refuse()

    def __getitem__(self, key: Any) -> Any:
        return refuse()


@dataclass(frozen=True)
class Csr(Sparse):
    """A matrix stored by rows: ``indices`` are columns, and row i is from ``indptr[i]`` to ``indptr[i + 1]``."""

    def __matmul__(self, other: Any) -> Any:
        _require_vectors(self.shape[1], other)
        return _by_rows(self, self.shape[0], other)

    def transpose(self) -> Csc:
        """The same arrays, read by columns."""
        return Csc(self.data, self.indices, self.indptr, (self.shape[1], self.shape[0]))

    def toarray(self) -> Any:
        """The dense matrix; what is stored twice is added up."""
        found = np.zeros(self.shape, self.data.dtype)
        for i in range(self.shape[0]):
            for k in range(self.indptr[i], self.indptr[i + 1]):
                found[i, self.indices[k]] += self.data[k]
        return found

    def diagonal(self) -> Any:
        """The main diagonal."""
        found = np.zeros(min(self.shape), self.data.dtype)
        for i in range(min(self.shape)):
            for k in range(self.indptr[i], self.indptr[i + 1]):
                if self.indices[k] == i:
                    found[i] += self.data[k]
        return found


@dataclass(frozen=True)
class Csc(Sparse):
    """A matrix stored by columns."""

    def __matmul__(self, other: Any) -> Any:
        _require_vectors(self.shape[1], other)
        return _by_columns(self, self.shape[0], self.shape[1], other)

    def transpose(self) -> Csr:
        """The same arrays, read by rows."""
        return Csr(self.data, self.indices, self.indptr, (self.shape[1], self.shape[0]))

    def toarray(self) -> Any:
        """The dense matrix; what is stored twice is added up."""
        found = np.zeros(self.shape, self.data.dtype, order="F")
        for j in range(self.shape[1]):
            for k in range(self.indptr[j], self.indptr[j + 1]):
                found[self.indices[k], j] += self.data[k]
        return found

    def diagonal(self) -> Any:
        """The main diagonal."""
        found = np.zeros(min(self.shape), self.data.dtype)
        for j in range(min(self.shape)):
            for k in range(self.indptr[j], self.indptr[j + 1]):
                if self.indices[k] == j:
                    found[j] += self.data[k]
        return found


#: SciPy's class, by name -> what stands for it
CLASSES: dict[str, type] = {"csr_matrix": Csr, "csr_array": Csr, "csc_matrix": Csc, "csc_array": Csc}
