import { didYouMean } from './arguments.js'
import { InputError, PartialOutputError, UsageError } from './failures.js'
import { blockCommand, inspectCommand, releaseCommand } from './keys/command.js'
import { BLOCK_HELP, INSPECT_HELP, RELEASE_HELP } from './keys/help.js'
import { oneLine } from './output.js'
import { REPLAY_HELP, replayCommand } from './replay/command.js'

const HELP = `Usage: headgate <command>

Commands:
  replay    shows whom a limit would have denied, from access logs
  inspect   shows what a store has of a client, and why it is limited
  release   forgets what a client has used
  block     bans a client for a while

headgate <command> --help lists the options.
`

interface Command {
  readonly help: string
  /** Returns what the command prints. */
  run(args: readonly string[]): Promise<string>
}

const COMMANDS: Readonly<Record<string, Command>> = {
  replay: { help: REPLAY_HELP, run: replayCommand },
  inspect: { help: INSPECT_HELP, run: inspectCommand },
  release: { help: RELEASE_HELP, run: releaseCommand },
  block: { help: BLOCK_HELP, run: blockCommand },
}

/** Runs a command line. Returns the exit code: 0 done, 1 an input or a store failed, 2 wrong arguments. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args
  const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  try {
    if (name === '--help' || name === '-h' || name === 'help') return print(HELP)
    if (name === undefined) throw new UsageError('no command given')
    if (command === undefined) throw unknownCommand(name)
    return print(asksForHelp(rest) ? command.help : await command.run(rest))
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof InputError)) throw error
    if (error instanceof PartialOutputError) print(error.printed)
    const isUsage = error instanceof UsageError
    const help = command === undefined ? 'headgate --help' : `headgate ${name} --help`
    const fix = isUsage ? ` (${help} shows what can be used)` : ''
    process.stderr.write(`headgate: ${oneLine(error.message.replaceAll('\n', ' '))}${fix}\n`)
    return isUsage ? 2 : 1
  }
}

function asksForHelp(args: readonly string[]): boolean {
  return args.includes('--help') || args.includes('-h')
}

function unknownCommand(name: string): UsageError {
  const fix = didYouMean('', name, Object.keys(COMMANDS))
  return new UsageError(`there is no command ${JSON.stringify(name)}${fix}`)
}

function print(text: string): number {
  process.stdout.on('error', reportUnwritten)
  process.stdout.write(text)
  return 0
}

/** The reader of a pipe, such as `head`, may close it before all is written. */
function reportUnwritten({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return
  process.exitCode = 1
  process.stderr.write(`headgate: cannot write the output: ${oneLine(message)}\n`)
}
