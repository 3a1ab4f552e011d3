export const TUNE_HELP = `Usage: headgate tune <log>... --window <time> [options]
       headgate tune <store> [limiter] [options]
       headgate tune start <store> <limiter> --limit <n> --reason <text> [options]
       headgate tune status <store> <limiter> [options]
       headgate tune approve|stop <store> <limiter> --reason <text> [options]

Proposes a limit from what clients asked for, in access logs or in live traffic. Sets apart the clients whose
demand is out of all proportion, such as scrapers, and names those that the limit would deny.

From access logs. Reads the same logs as headgate replay, in any order. - is standard input.

  --window <time>   the window of the limit, such as 10s, 1m or 24h
  --limit <n>       the limit in force, which may be kept, raised or lowered
  --key <keys>      what identifies a client: ip (default), user, path or field:NAME (of JSON or logfmt), or
                    several, such as ip,path
  --only <route>    learn only from these requests, such as 'POST /login' or '/api/*'; may be repeated
  --format <format> how lines are written, as in headgate replay
  --trust-proxy <p> the proxies that forward clients' addresses, as in headgate replay
  --json            print one JSON object

From live traffic. Reads what the processes with a dashboard counted in the last 12 to 24 hours, of one limiter
or of all. Changes nothing.

  <store>           the URL of Redis or Valkey, or the path of a module that exports a store, such as ./store.js
                    (default after start, status, approve and stop: the environment variable HEADGATE_STORE)
  --prefix <text>   the limiters' prefix, after the keyPrefix of their client, such as app:hg (default: hg)

A trial runs a limit as a candidate, then waits for approval, which puts the limit into force. After that,
the limit is reverted if it denies too many clients in good standing. A trial changes the shared settings of the
limiter, and the processes with a dashboard take its steps. start begins a trial, status shows it, approve puts
its limit into force, and stop ends it and restores the previous limit.

  --for <time>      how long the limit runs as a candidate (default: 1d)
  --guard <time>    how long after the approval the limit may still be reverted (default: 1h)
  --max-denied <share>
                    it is reverted if the share of denied clients in good standing rises by more (default: 1%)
  --name <limit>    which limit, if the limiter has several
  --reason <text>   why; required for start, approve and stop
  --by <text>       who (default: the user and the host)

Exit codes: 0 done, 1 an input or the store failed, or the step cannot be taken, 2 wrong arguments.
`
