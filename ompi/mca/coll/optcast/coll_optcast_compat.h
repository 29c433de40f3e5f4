/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All differences between the coll frameworks of Open MPI 4.1 (component 2.0.0), 5.0 (2.4.0)
 * and 6.0 (3.0.0), told apart by macros of the installed headers, never by a version table.
 */
#ifndef MCA_COLL_OPTCAST_COMPAT_H
#define MCA_COLL_OPTCAST_COMPAT_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"

#if defined(MCA_COLL_BASE_VERSION_3_0_0)
#    define OC_COLL_VERSION     MCA_COLL_BASE_VERSION_3_0_0
#    define OC_FRAMEWORK_COPIES 0 /* the module installs itself into the communicator */
typedef size_t oc_mpi_count_t;
typedef ompi_count_array_t oc_mpi_counts_t;
typedef ompi_disp_array_t oc_mpi_displs_t;
#    define OC_MPI_COUNT(counts, i) ompi_count_array_get((counts), (i))
#    define OC_MPI_DISPL(displs, i) ompi_disp_array_get((displs), (i))
#elif defined(MCA_COLL_BASE_VERSION_2_4_0)
#    define OC_COLL_VERSION     MCA_COLL_BASE_VERSION_2_4_0
#    define OC_FRAMEWORK_COPIES 1
typedef int oc_mpi_count_t;
#elif defined(MCA_COLL_BASE_VERSION_2_0_0)
#    define OC_COLL_VERSION     MCA_COLL_BASE_VERSION_2_0_0
#    define OC_FRAMEWORK_COPIES 1
#    define OC_HAN_CALLS_COMMUNICATOR 1 /* and not what it had before: see coll_optcast_han.c */
typedef int oc_mpi_count_t;
#else
#    error "this version of Open MPI's coll framework is not known"
#endif

/* Counts of any module from an array of int, which has to outlive them. */
#if OC_FRAMEWORK_COPIES
#    define OC_MPI_COUNTS_OF(array) (array)
#else
#    define OC_MPI_COUNTS_OF(array) OMPI_COUNT_ARRAY_CREATE(array)
#endif

#ifndef OC_MPI_COUNT /* before 6.0: arrays of int */
typedef const int *oc_mpi_counts_t;
typedef const int *oc_mpi_displs_t;
#    define OC_MPI_COUNT(counts, i) ((size_t) (counts)[i])
#    define OC_MPI_DISPL(displs, i) ((ptrdiff_t) (displs)[i])
#endif

#ifndef MCA_BASE_COMPONENT_INIT /* 6.0 and later */
#    define MCA_BASE_COMPONENT_INIT(project, framework, name)
#endif

/* Values of info objects: texts that are counted, from 5.0 on, or copied to where they belong. */
#if OMPI_MAJOR_VERSION >= 5
#    define OC_INFO_STRINGS 1
#else
#    define OC_INFO_STRINGS 0
#endif

/* Operations of the application whose function is not one of C, or takes wide counts. */
#ifndef OMPI_OP_FLAGS_CXX_FUNC /* before 5.0 */
#    define OMPI_OP_FLAGS_CXX_FUNC 0
#endif
#ifndef OMPI_OP_FLAGS_JAVA_FUNC /* before 6.0 */
#    define OMPI_OP_FLAGS_JAVA_FUNC 0
#endif
#ifndef OMPI_OP_FLAGS_BIGCOUNT /* 6.0 and later */
#    define OMPI_OP_FLAGS_BIGCOUNT 0
#endif
#define OC_OP_FLAGS_NOT_C                                                            \
    (OMPI_OP_FLAGS_INTRINSIC | OMPI_OP_FLAGS_FORTRAN_FUNC | OMPI_OP_FLAGS_CXX_FUNC   \
     | OMPI_OP_FLAGS_JAVA_FUNC | OMPI_OP_FLAGS_BIGCOUNT)

/*
 * Whether the program was started to survive processes that fail (ULFM): from 5.0 on, if it was
 * built so.
 */
#if defined(OPAL_ENABLE_FT_MPI) && OPAL_ENABLE_FT_MPI
#    include "ompi/runtime/params.h"
#    define OC_FAULT_TOLERANT ompi_ftmpi_enabled
#else
#    define OC_FAULT_TOLERANT false
#endif

/* What Open MPI itself knows of the memory of accelerators: from 5.0 on it can be asked. */
#if OMPI_MAJOR_VERSION >= 5
#    include "opal/mca/accelerator/accelerator.h"
#    include "opal/mca/accelerator/base/base.h"
#    define OC_HAVE_ACCELERATOR 1
#else
#    define OC_HAVE_ACCELERATOR 0
#endif
#if defined(OPAL_CUDA_SUPPORT) && OPAL_CUDA_SUPPORT
#    define OC_CUDA_AWARE true
#else
#    define OC_CUDA_AWARE false
#endif

#if OMPI_MAJOR_VERSION >= 5
#    include "opal/mca/pmix/pmix-internal.h"
#    include "opal/mca/threads/thread_usage.h"
#    define OC_MODEX_SCOPE PMIX_GLOBAL
#    define OC_KEY_NUM_NODES PMIX_NUM_NODES
#    define OC_MODEX_UINT32  PMIX_UINT32
#else
#    include "opal/mca/pmix/pmix.h"
#    include "opal/threads/thread_usage.h"
#    define OC_MODEX_SCOPE OPAL_PMIX_GLOBAL
#    define OC_KEY_NUM_NODES OPAL_PMIX_NUM_NODES
#    define OC_MODEX_UINT32  OPAL_UINT32
#endif

#endif
