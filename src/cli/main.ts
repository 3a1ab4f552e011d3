import { readFileSync } from 'node:fs'
import { escapeUnprintable } from '../util/printable.js'
import { didYouMean } from './arguments.js'
import { eventsCommand } from './events/command.js'
import { EVENTS_HELP } from './events/help.js'
import { InputError, PartialOutputError, UsageError } from './failures.js'
import { blockCommand, inspectCommand, releaseCommand } from './keys/command.js'
import { BLOCK_HELP, INSPECT_HELP, RELEASE_HELP } from './keys/help.js'
import { REPLAY_HELP, replayCommand } from './replay/command.js'
import { settingsCommand } from './settings/command.js'
import { SETTINGS_HELP } from './settings/help.js'
import { testStoreCommand } from './test-store/command.js'
import { TEST_STORE_HELP } from './test-store/help.js'
import { tuneCommand } from './tune/command.js'
import { TUNE_HELP } from './tune/help.js'

const HELP = `Usage: headgate <command>

Commands:
  replay      show which requests in access logs a limit would have denied
  tune        propose a limit from what clients asked for, and try it
  inspect     show what a store has of a client, and why the client is denied
  release     forget what a client has used, bans included
  block       ban a client for a while
  settings    show and change the settings of running limiters
  events      print what dashboards have logged, as JSON lines
  test-store  test headgate's store contract against your own store
  version     print the version (also --version, -v)

Run headgate <command> --help to list the options of a command.
`

interface CliCommand {
  readonly help: string
  /** Returns what the command prints. */
  run(args: readonly string[]): Promise<string>
}

const COMMANDS: Readonly<Record<string, CliCommand>> = {
  replay: { help: REPLAY_HELP, run: replayCommand },
  tune: { help: TUNE_HELP, run: tuneCommand },
  inspect: { help: INSPECT_HELP, run: inspectCommand },
  release: { help: RELEASE_HELP, run: releaseCommand },
  block: { help: BLOCK_HELP, run: blockCommand },
  settings: { help: SETTINGS_HELP, run: settingsCommand },
  events: { help: EVENTS_HELP, run: eventsCommand },
  'test-store': { help: TEST_STORE_HELP, run: testStoreCommand },
  version: { help: HELP, run: async () => `${packageVersion()}\n` },
  help: { help: HELP, run: async ([about = 'help']) => commandNamed(about).help },
}

const OTHER_NAMES = new Map([
  ['--version', 'version'],
  ['-v', 'version'],
  ['--help', 'help'],
  ['-h', 'help'],
])

/** Runs a command line. Returns the exit code: 0 done, 1 an input or a store failed, 2 wrong arguments. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args
  // Some commands print before they are done.
  if (!process.stdout.listeners('error').includes(reportUnwritten))
    process.stdout.on('error', reportUnwritten)
  try {
    if (name === undefined) throw new UsageError('no command given')
    const command = commandNamed(OTHER_NAMES.get(name) ?? name)
    return print(asksForHelp(rest) ? command.help : await command.run(rest))
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof InputError)) throw error
    if (error instanceof PartialOutputError) print(error.printed)
    const isUsage = error instanceof UsageError
    const fix = isUsage ? ` (for help, run ${helpFor(name)})` : ''
    process.stderr.write(`headgate: ${escapeUnprintable(error.message.replaceAll('\n', ' '))}${fix}\n`)
    return isUsage ? 2 : 1
  }
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const options = end < 0 ? args : args.slice(0, end)
  return options.includes('--help') || options.includes('-h')
}

/**
 * Returns the command line that explains a command; the one that lists all, if no command has its own help.
 */
function helpFor(name = ''): string {
  const hasHelp = Object.hasOwn(COMMANDS, name) && COMMANDS[name]?.help !== HELP
  return hasHelp ? `headgate ${name} --help` : 'headgate --help'
}

/** Returns a command. Throws a `UsageError` if there is none. */
function commandNamed(name: string): CliCommand {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command !== undefined) return command
  const fix = didYouMean('', name, Object.keys(COMMANDS))
  throw new UsageError(`unknown command ${JSON.stringify(name)}${fix}`)
}

/** Returns the version in package.json, which lies two folders up from here and from `dist/esm` alike. */
function packageVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

/** The reader of a pipe, such as `head`, may close it before all is written. */
function reportUnwritten({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return
  process.exitCode = 1
  process.stderr.write(`headgate: cannot write the output: ${escapeUnprintable(message)}\n`)
}
