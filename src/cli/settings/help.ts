export const SETTINGS_HELP = `Usage: headgate settings <command> <limiter> [arguments] --store <store> [options]

Shows and changes the settings of running limiters. All processes apply a change within a second or two.
Before a change is saved, it prints what the change would have done to the clients of the last 12 to 24 hours.

Commands:
  show <limiter>                 the limits in force, and each setting with who made it, when and why
  history <limiter>              the last 100 changes, with what each changed
  set <limiter> <field>...       set mode=report, limit=200, window=1m or, of several limits, account.limit=5;
                                 policy=tokenBucket capacity=50 refill=10 every=1s replaces the policy
  unset <limiter> <part>...      remove limits.api, mode or candidate, so that the code decides again
  exempt <limiter> <client>      allow a client without counting
  block <limiter> <client>       deny a client
  override <limiter> <client> <field>...
                                 give a client other limits
  remove <limiter> <client>      remove the override of a client
  candidate <limiter> <field>... try limits without enforcing them
  edit <limiter> [file]          edit the document in the editor that EDITOR names; with a file, or - for
                                 standard input, save that document, or what show --json printed
  undo <limiter> <id>            restore what a change replaced

A client:
  --identity <text>         as the key function returns it, such as user:7; repeated for several keys
  --stored-identity <text>  as stores keep it, such as the hash that the dashboard shows
  --identity-prefix <text>  all identities that begin with this text
  --network <network>       an IP address or a CIDR range
  --for <time>              how long an override lasts, such as 1h (default: until it is removed)
  --until <time>            when it ends, such as 2030-12-31T00:00:00Z

Options:
  --store <store>   the URL of Redis or Valkey, or the path of a module that exports a store, such as ./store.js
                    (default: the environment variable HEADGATE_STORE)
  --prefix <text>   the prefix of sharedSettings, after the keyPrefix of its client, such as app:hg (default: hg)
  --reason <text>   why; required for changes
  --by <text>       who (default: the user and the host)
  --base <version>  the version, which show prints, that the change is based on. If others have changed the
                    same parts since, nothing is changed. Required for edit, unless the file has it
  --force           let edit replace whatever the store holds
  --dry-run         show the difference and a preview, and change nothing
  --yes             save without asking. Without a terminal, nothing is asked
  --json            print one JSON object

Exit codes: 0 done, 1 the store failed or the change was rejected, 2 wrong arguments.
`
