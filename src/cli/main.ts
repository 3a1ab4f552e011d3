import { InputError, UsageError } from './failures.js'
import { oneLine } from './output.js'
import { REPLAY_HELP, replayCommand } from './replay/command.js'

const HELP = `Usage: headgate <command>

Commands:
  replay    shows whom a limit would have denied, from access logs

headgate replay --help lists the options.
`

/** Runs a command line. Returns the exit code: 0 done, 1 an input failed, 2 wrong arguments. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args
  try {
    if (command === '--help' || command === '-h' || command === 'help') return print(HELP)
    if (command === undefined) throw new UsageError('no command given')
    if (command !== 'replay') throw new UsageError(`there is no command ${JSON.stringify(command)}`)
    if (rest.includes('--help') || rest.includes('-h')) return print(REPLAY_HELP)
    return print(await replayCommand(rest))
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof InputError)) throw error
    const isUsage = error instanceof UsageError
    const help = command === 'replay' ? 'headgate replay --help' : 'headgate --help'
    const fix = isUsage ? ` (${help} shows what can be used)` : ''
    process.stderr.write(`headgate: ${oneLine(error.message.replaceAll('\n', ' '))}${fix}\n`)
    return isUsage ? 2 : 1
  }
}

function print(text: string): number {
  process.stdout.on('error', ignoreClosedPipe)
  process.stdout.write(text)
  return 0
}

/** The reader of a pipe, such as `head`, may close it before all is written. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
