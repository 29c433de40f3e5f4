# SPDX-License-Identifier: BSD-3-Clause
# Client and server as they are, on simulated hosts in virtual time. The linker leads their system calls to calls.c, and
# messages.c stands for ucx_backend/.

simulated_calls = -Wl,--wrap=socket,--wrap=bind,--wrap=listen,--wrap=connect,--wrap=accept4,--wrap=shutdown \
	-Wl,--wrap=getsockname,--wrap=getpeername,--wrap=getsockopt,--wrap=setsockopt,--wrap=fcntl,--wrap=ioctl \
	-Wl,--wrap=send,--wrap=sendto,--wrap=recv,--wrap=read,--wrap=write,--wrap=close \
	-Wl,--wrap=eventfd,--wrap=eventfd_write,--wrap=timerfd_create,--wrap=timerfd_settime \
	-Wl,--wrap=epoll_create1,--wrap=epoll_ctl,--wrap=epoll_wait,--wrap=poll,--wrap=ppoll \
	-Wl,--wrap=clock_gettime,--wrap=getrandom,--wrap=sched_yield,--wrap=sched_setaffinity \
	-Wl,--wrap=pthread_create,--wrap=pthread_join,--wrap=pthread_detach,--wrap=pthread_setname_np \
	-Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_unlock,--wrap=getifaddrs,--wrap=freeifaddrs

check_PROGRAMS += tests/simulation/test_simulation_recovery
tests_simulation_test_simulation_recovery_SOURCES = tests/simulation/test_simulation_recovery.c \
	tests/simulation/calls.h tests/simulation/bells.c tests/simulation/calls.c tests/simulation/descriptors.c \
	tests/simulation/messages.h tests/simulation/messages.c tests/simulation/service.h tests/simulation/service.c \
	tests/simulation/sockets.h tests/simulation/sockets_types.h tests/simulation/sockets.c \
	tests/simulation/unbound.c tests/simulation/wire.h tests/simulation/wire.c \
	tests/simulation/workload.h tests/simulation/workload.c tests/simulation/world.h tests/simulation/world.c \
	tests/multicast/events.h tests/multicast/events.c tests/multicast/fifo.h tests/multicast/memory.h
tests_simulation_test_simulation_recovery_LDFLAGS = $(simulated_calls)
tests_simulation_test_simulation_recovery_LDADD = libocclient.la -lpthread
