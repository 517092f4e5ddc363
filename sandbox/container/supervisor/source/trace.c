/* What traced processes tell: execs, ends, and all that they only have to be let go on after. */
#include "trace.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "ask.h"
#include "frame.h"
#include "notice.h"
#include "tracer.h"

#define DEPTH_MOST 65536

/* Whose shim was killed is still known by the programs that it and those above it run. */
static struct watch *watch_of_orphan(pid_t pid) {
    uint64_t layout[4];
    char state;
    for (int depth = 0; depth < DEPTH_MOST && pid > 1; depth++) {
        for (struct ask *ask = asks; ask; ask = ask->next)
            if (ask->watch->traced && ask->pid == pid) return ask->watch;
        if (!exec_layout(pid, &state, &pid, layout)) break;
    }
    return NULL;
}

/* Nobody can say whose it is, so nobody can be asked; the host hears that something is missing. */
static void lose(pid_t pid) {
    static uint64_t lost;
    kill(pid, SIGKILL);
    struct writer writer = writer_begin();
    put_u64(&writer, ++lost);
    put_u64(&writer, 0);
    put_u32(&writer, 0);
    writer_send(&writer, REPLY_EXEC_COUNT, 0);
}

static void trace_exec(pid_t pid) {
    int problem = 0;
    struct watch *watch = watch_of(pid);
    if (!watch && !(watch = watch_of_orphan(pid))) return lose(pid);
    enum reading reading = exec_stopped(&present, pid, &problem);
    exec_drop_handle(&present); /* the tracer hears of its end by wait(2) */
    struct ask *granted = ask_granted(pid);
    if (granted) return ask_settle(granted, reading == READ_WELL && ask_is_granted(granted, &present));
    if (reading == READ_WELL && pid == watch->own->first.pid && !watch->own->asked) {
        present.flags |= EXECUTION_FIRST;
        watch->own->asked = true;
    }
    ask_stopped(watch, &present, reading == READ_WELL ? 0 : problem);
}

void trace_ended(pid_t pid, int status) {
    struct ask *next;
    for (struct ask *ask = asks; ask; ask = next) {
        next = ask->next;
        if (!ask->watch->traced || ask->pid != pid) continue;
        notice_before_end(ask->git); /* its parent hears of the end after us: wait(2), ptrace(2) */
        ask_end(ask, ask_waits(ask) ? OUTCOME_GONE : OUTCOME_EXITED, status);
    }
}

void trace_stopped(pid_t pid, int status) {
    if (tracer_is_exec(status)) trace_exec(pid);
    else tracer_resume(pid, status);
}
