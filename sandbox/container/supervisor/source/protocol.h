/* Numbers of the wire protocol; docs/supervisor-protocol.md explains them, protocol.py repeats them. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#define PROTOCOL_VERSION 1

#define FRAME_HEADER 9          /* u32 length, u8 type, u32 request id */
#define FRAME_LIMIT 4194304     /* largest value of the length field, which counts type and id too */
#define CHUNK 65536             /* most data bytes that the supervisor puts into one frame */
#define STDIN_WINDOW 262144     /* bytes of standard input that may be under way for one command */
#define STREAM_WINDOW 65536     /* bytes that may be under way on a connection, each way */
#define RECORD_SIZE 80          /* fixed part of an entry's record */

#define REQUEST_RUN 1
#define REQUEST_STDIN 2
#define REQUEST_KILL 3
#define REQUEST_READ 4
#define REQUEST_WRITE 5
#define REQUEST_WRITE_DATA 6
#define REQUEST_REMOVE 7
#define REQUEST_STAT 8
#define REQUEST_LIST 9
#define REQUEST_MANIFEST 10
#define REQUEST_KILL_ALL 11
#define REQUEST_USAGE 12
#define REQUEST_ANSWER_EXEC 13
#define REQUEST_FREEZE 14       /* reserved, version 1 does not send it */
#define REQUEST_THAW 15         /* reserved, version 1 does not send it */
#define REQUEST_LISTEN 16
#define REQUEST_UNLISTEN 17
#define REQUEST_STREAM_DATA 18
#define REQUEST_STREAM_TAKEN 19
#define REQUEST_STREAM_CLOSE 20
#define REQUEST_WATCH 21
#define REQUEST_SETTLE 22

#define REPLY_GREETING 128
#define REPLY_STARTED 129
#define REPLY_STDOUT 130
#define REPLY_STDERR 131
#define REPLY_STDIN_TAKEN 132
#define REPLY_ENDED 133
#define REPLY_DATA 134
#define REPLY_OK 135
#define REPLY_ERROR 136
#define REPLY_FAULT 137
#define REPLY_EXEC_SEEN 138
#define REPLY_EXEC_HELD 139
#define REPLY_EXEC_ENDED 140
#define REPLY_EXEC_COUNT 141
#define REPLY_LISTENING 142
#define REPLY_ACCEPTED 143
#define REPLY_RECEIVED 144
#define REPLY_DELIVERED 145
#define REPLY_CLOSED 146
#define REPLY_TOUCHED 147

#define RUN_KILL_SURVIVORS 1
#define RUN_ANNOUNCE 2
#define RUN_EXEC_LOG 4
#define RUN_EXEC_HOLD 8
#define RUN_ROOT 16             /* may ask for root although its execs are not seen */

#define ENDED_TIMED_OUT 1
#define ENDED_KILLED 2
#define ENDED_OUT_OF_MEMORY 4

#define FILE_FOLLOW 1
#define FILE_PARENTS 2
#define FILE_KEEP_MODE 4

#define MANIFEST_DIGEST 1
#define MANIFEST_SINCE 2 /* of what was changed since a time alone */

#define AGENT_HOME "/home/agent" /* where the agent is at home: other values of HOME are told */

#define TOUCHED_FILE 0          /* something stands there now that is no folder */
#define TOUCHED_GONE 1
#define TOUCHED_READ 2
#define TOUCHED_LOST 3          /* more has happened than is told */

#define EXECUTION_TRUNCATED 1        /* not all arguments are told */
#define EXECUTION_AT 2               /* execveat */
#define EXECUTION_FIRST 4            /* the command's own program */
#define EXECUTION_PRIVILEGED 8       /* `sudo` asks for it, and it will be root */
#define EXECUTION_VARIABLES_CUT 16    /* not all that its telling variables say is told */

#define OUTCOME_EXITED 0        /* code or signal are known */
#define OUTCOME_UNKNOWN 1       /* it ended, how is not known */
#define OUTCOME_REPLACED 2      /* the process runs another program now */
#define OUTCOME_FAILED 3        /* the kernel refused it */
#define OUTCOME_REFUSED 4       /* the host refused it */
#define OUTCOME_MISMATCH 5      /* something else ran than was approved, and was killed */
#define OUTCOME_GONE 6          /* the process ended before it was decided on */

#endif
