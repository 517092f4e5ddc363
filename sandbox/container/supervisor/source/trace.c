/* What traced processes tell: execs, ends, and all that they only have to be let go on after. */
#include "trace.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "ask.h"
#include "job.h"
#include "root.h"
#include "tracer.h"

#define DEPTH_MOST 65536
#define TRIES 4 /* a process whose parent ends meanwhile has another one */

static struct exec seen;

uint32_t command_of(pid_t pid) {
    uint64_t layout[4];
    char state;
    for (int try = 0; try < TRIES; try++) {
        pid_t at = pid, parent = 0;
        for (int depth = 0; depth < DEPTH_MOST && exec_layout(at, &state, &parent, layout); depth++) {
            uint32_t id = job_of_shim(parent);
            if (id || parent <= 1) return id;
            at = parent;
        }
    }
    return 0;
}

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
    unsigned char payload[20];
    kill(pid, SIGKILL);
    put_u64(payload, ++lost);
    put_u64(payload + 8, 0);
    put_u32(payload + 16, 0);
    reply(REPLY_EXEC_COUNT, 0, payload, sizeof payload);
}

static void trace_exec(pid_t pid) {
    int problem = 0;
    struct watch *watch = watch_find(command_of(pid));
    if (!watch && !(watch = watch_of_orphan(pid))) return lose(pid);
    enum reading reading = exec_stopped(&seen, pid, &problem);
    struct ask *granted = ask_granted(pid);
    if (granted) return ask_settle(granted, reading == READ_WELL && root_is_granted(granted, &seen));
    if (reading == READ_WELL && pid == watch->own->first.pid && !watch->own->asked) {
        seen.flags |= EXECUTION_FIRST;
        watch->own->asked = true;
    }
    ask_stopped(watch, &seen, reading == READ_WELL ? 0 : problem);
}

void trace_ended(pid_t pid, int status) {
    struct ask *next;
    for (struct ask *ask = asks; ask; ask = next) {
        next = ask->next;
        if (!ask->watch->traced || ask->pid != pid) continue;
        ask_end(ask, ask_waits(ask) ? OUTCOME_GONE : OUTCOME_EXITED, status);
    }
}

void trace_stopped(pid_t pid, int status) {
    if (tracer_is_exec(status)) trace_exec(pid);
    else tracer_resume(pid, status);
}
