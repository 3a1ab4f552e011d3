import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = join(__dirname, '../..')

/** How the bundlers of a platform resolve packages. */
export interface Resolution {
  /** Conditions of `exports`, the first that a package has. */
  readonly conditions: readonly string[]
  /** Modules that the runtime has, as patterns. An import of any other must be in the bundle. */
  readonly builtin: readonly string[]
  readonly format: 'esm' | 'iife'
}

/**
 * Puts an application and the checkout's headgate into one file. `entry` imports the application as `app`, or is
 * the application. Each `process.env.NAME` becomes the value that `env` has for it.
 */
export async function bundleApp(
  { entry, app, outfile }: { entry: string; app: string; outfile: string },
  { conditions, builtin, format }: Resolution,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const flags = [
    `--tsconfig=${join(ROOT, 'tsconfig.json')}`,
    '--bundle',
    '--platform=neutral',
    '--main-fields=module,main',
    '--target=es2022',
    '--log-level=warning',
    `--format=${format}`,
    `--conditions=${conditions.join(',')}`,
    `--alias:app=${app}`,
    `--outfile=${outfile}`,
    ...builtin.map((pattern) => `--external:${pattern}`),
    ...Object.entries(env).map(([name, value]) => `--define:process.env.${name}=${JSON.stringify(value)}`),
  ]
  await run(join(ROOT, 'node_modules/.bin/esbuild'), [entry, ...flags], { cwd: ROOT })
}
