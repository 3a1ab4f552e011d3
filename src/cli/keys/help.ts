const STORE = `  --store <url>        the store: redis:// or rediss://, with user, password and database where it needs
                       them. Default: the environment variable HEADGATE_STORE`

const OPTIONS = `  --limiter <name>     only limits of this limiter, or one of them, such as login/account; may be repeated
  --prefix <text>      the option prefix of the limiters, after a keyPrefix of their client. Default: hg
  --secret-env <name>  the environment variable that holds the secret of the limiters. Default:
                       HEADGATE_SECRET
  --json               print one JSON object

Requires a client of Redis in the current directory: ioredis, redis or iovalkey.

Exit codes: 0 done, 1 the store failed or has no such limit, 2 wrong arguments.
`

export const INSPECT_HELP = `Usage: headgate inspect <identity> --store <url> [options]

Shows which limits have something stored for an identity, what is left of them, and why it is limited. An
identity is an address, a user, a name, or an identity as it is stored. Changes nothing.

${STORE}
${OPTIONS}`

export const RELEASE_HELP = `Usage: headgate release <identity> --store <url> [options]

Forgets what an identity has used of its limits, bans included, as limiter.forget does.

${STORE}
${OPTIONS}`

export const BLOCK_HELP = `Usage: headgate block <identity> --for <time> --store <url> [options]

Bans an identity from now on in the limits whose policy is a ban, as limiter.blockFor does. The longest ban
of a limit applies: with the next request of the identity, the limiter shortens a longer one to that.

  --for <time>         how long, such as 15m or 1h
${STORE}
${OPTIONS}`
