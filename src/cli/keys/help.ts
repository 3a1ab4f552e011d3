const STORE = `  --store <url>        the URL of the store: redis:// or rediss://, with user, password and database
                       (default: the environment variable HEADGATE_STORE)`

const OPTIONS = `  --limiter <name>     only one limiter, such as login, or limit, such as login/account; may be repeated
  --prefix <text>      the limiters' prefix, after the keyPrefix of their client, such as app:hg
                       (default: hg)
  --secret-env <name>  the environment variable with the limiters' secret (default: HEADGATE_SECRET)
  --json               print one JSON object

Requires ioredis, redis or iovalkey in the current directory.

Exit codes: 0 done, 1 the store failed or has no such limit, 2 wrong arguments.
`

export const INSPECT_HELP = `Usage: headgate inspect <identity> --store <url> [options]

Shows what each limit has stored for an identity, what is left, and why the identity is denied. An identity
is an IP address, a user, a name, or an identity as it is stored. Changes nothing.

${STORE}
${OPTIONS}`

export const RELEASE_HELP = `Usage: headgate release <identity> --store <url> [options]

Forgets what an identity has used, bans included, as the adjustment forget does.

${STORE}
${OPTIONS}`

export const BLOCK_HELP = `Usage: headgate block <identity> --for <time> --store <url> [options]

Bans an identity in all limits whose policy is a ban, as the adjustment blockFor does, but for any time.

  --for <time>         how long, such as 15m or 1h
${STORE}
${OPTIONS}`
