import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Tests and tools run in the root of the repository. */
export const ROOT = process.cwd()

const execute = promisify(execFile)

interface Output {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end; a command that fails is an output too. */
export async function run(command: string, args: readonly string[], cwd: string): Promise<Output> {
  try {
    const options = { cwd, env: ownEnvironment(), timeout: 240_000, maxBuffer: 2 ** 26 }
    return { code: 0, ...(await execute(command, args, options)) }
  } catch (error) {
    const { code, stdout, stderr, message } = error as { code?: unknown } & Output & Error
    return { code: typeof code === 'number' ? code : 1, stdout: stdout ?? '', stderr: stderr || message }
  }
}

/** Runs a command that has to succeed; its whole output is in the error. */
export async function mustRun(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, cwd)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`)
  return stdout
}

/** The environment without what `npm test` adds of this package, without jest's, without colours and telemetry. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const {
    NODE_ENV,
    NODE_OPTIONS,
    FORCE_COLOR,
    INIT_CWD,
    npm_config_local_prefix,
    npm_config_prefix,
    ...rest
  } = process.env
  return { ...rest, NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1' }
}
