import { execFile } from 'node:child_process'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { ROOT } from '../package/run.js'

/** What `headgate test-store --json` prints. */
export interface Report {
  readonly operations: number
  readonly emptyDocuments: readonly string[]
  readonly tests: readonly { readonly name: string; readonly passed: boolean; readonly error?: string }[]
}

/** Returns the program of the checkout. */
export const bundleProgram = (): Promise<Bundle> => bundle(`${ROOT}/src/cli.ts`)

/** Where the command runs. */
interface Surroundings {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
}

/** Runs the command in a process of its own, because it ends the process whatever the store left open. */
export function runTestStore(program: Bundle, args: readonly string[], { env, cwd }: Surroundings = {}) {
  const options = { env: { ...process.env, ...env }, cwd, maxBuffer: 1e8 }
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [program.path, 'test-store', ...args], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
}
