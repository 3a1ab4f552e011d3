export const EVENTS_HELP = `Usage: headgate events <store> [options]

Prints the last 1,000 events that dashboards have logged in a store as JSON lines, oldest first: circuit
breakers, processes, blocks and releases, changes of settings and modes, lost limits. Changes nothing.

  <store>              the URL of Redis: redis:// or rediss://, with user, password and database; or a module
                       that exports a store, such as ./store.js
                       (default: the environment variable HEADGATE_STORE)
  --follow             wait for new events, even while the store is down
  --limiter <name>     only events about one limiter
  --prefix <text>      the limiters' prefix (default: hg)

A URL requires ioredis, redis or iovalkey in the current directory.

Exit codes: 0 done, 1 the store failed, 2 wrong arguments.
`
