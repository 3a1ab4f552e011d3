import { Readable, Writable } from 'node:stream'
import { runCommand } from '../../src/cli/main.js'

export interface CommandOptions {
  /** Where it runs. Default: where this process does. */
  readonly folder?: string
  /** Its environment variables, besides `PATH`. */
  readonly env?: Readonly<Record<string, string>>
  /** Its standard input: all of it, or a stream that the test writes to. */
  readonly input?: string | Buffer | Readable
}

/** What a command printed, and its exit code. */
export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs `headgate` with arguments in this process, as `src/cli.ts` does. Calls run one after the other, since
 * a command reads what a process has once: its streams, its folder and its environment.
 */
export function runHere(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const run = () => runNow(args, options)
  const running = last.then(run, run)
  last = running
  return running
}

async function runNow(
  args: readonly string[],
  { folder = process.cwd(), env = {}, input = '' }: CommandOptions,
): Promise<CommandResult> {
  const [stdout, stderr] = [collector(), collector()]
  const stdin = input instanceof Readable ? input : Readable.from([Buffer.from(input)])
  const restore = replaceProperties({
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: { PATH: process.env.PATH, ...env },
  })
  const before = process.cwd()
  process.chdir(folder)
  try {
    const code = await runCommand(args)
    return { code, stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    process.chdir(before)
    restore()
  }
}

function collector() {
  const chunks: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => chunks.join('') }
}

/** Replaces properties of `process`. Returns what restores them. */
function replaceProperties(values: Record<string, unknown>): () => void {
  const before = Object.keys(values).map((name) => [name, Object.getOwnPropertyDescriptor(process, name)])
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(process, name, { value, configurable: true })
  return () => Object.defineProperties(process, Object.fromEntries(before))
}
