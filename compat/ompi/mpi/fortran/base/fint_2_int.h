/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stand-in for a header that ompi/op/op.h includes and that "make install" of Open MPI
 * leaves out. Only the two conversions are needed, and only where int and Fortran's INTEGER
 * have the same size. configure uses this folder when the installed headers lack the file.
 */
#ifndef OMPI_FORTRAN_BASE_FINT_2_INT_H
#define OMPI_FORTRAN_BASE_FINT_2_INT_H

#define OMPI_INT_2_FINT(value) ((MPI_Fint) (value))
#define OMPI_FINT_2_INT(value) ((int) (value))

#endif
