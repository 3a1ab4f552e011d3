import { execFile } from 'node:child_process'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { ROOT } from '../package/run.js'

/** What a process of `headgate` printed, and its exit code. */
export interface SettingsResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Returns the program of the checkout. */
export const bundleProgram = (): Promise<Bundle> => bundle(`${ROOT}/src/cli.ts`)

/** Runs `headgate settings` in a process of its own, where the clients of stores are installed. */
export const runSettings = (program: Bundle, args: readonly string[], env: NodeJS.ProcessEnv) =>
  runProgram(program, ['settings', ...args], env)

/** Runs `headgate`, likewise. */
export function runProgram(program: Bundle, args: readonly string[], env: NodeJS.ProcessEnv) {
  const options = { cwd: ROOT, env: { ...process.env, ...env } }
  return new Promise<SettingsResult>((resolve) => {
    execFile(process.execPath, [program.path, ...args], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
}
