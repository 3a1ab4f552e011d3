import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { AROUND } from '../support/servers/bundle.js'

const run = promisify(execFile)
const ROOT = join(__dirname, '../..')

/** How the bundlers of a platform resolve imports. */
export interface Resolution {
  /** `node` if the runtime has the modules of Node.js, and packages may call `require` for them. */
  readonly platform: 'node' | 'neutral'
  /** Conditions of `exports`, the first that a package has. */
  readonly conditions: readonly string[]
  /** Modules that the runtime has, as patterns: it imports them itself. */
  readonly builtin: readonly string[]
  readonly format: 'esm' | 'iife'
}

/** What goes into a bundle. */
export interface Ingredients {
  /** The file that imports the application as `app`, or is the application. */
  readonly entry: string
  readonly app: string
  /** The module that the application imports as `store-of-the-runtime`. */
  readonly store?: string | undefined
  /** A folder of packages that the checkout does not have. */
  readonly packages?: string | undefined
  /** What each `process.env.NAME` becomes. */
  readonly env: Readonly<Record<string, string>>
}

/** Puts an application and the checkout's headgate into one file, as a bundler for the runtime does. */
export async function bundleApp(
  outfile: string,
  { entry, app, store, packages = '', env }: Ingredients,
  { platform, conditions, builtin, format }: Resolution,
): Promise<void> {
  const flags = [
    '--bundle',
    `--platform=${platform}`,
    '--main-fields=module,main',
    '--target=es2022',
    '--log-level=warning',
    `--format=${format}`,
    `--conditions=${conditions.join(',')}`,
    `--alias:app=${resolve(app)}`,
    `--tsconfig=${join(ROOT, 'tsconfig.json')}`,
    `--outfile=${outfile}`,
    ...(store === undefined ? [] : [`--alias:store-of-the-runtime=${resolve(store)}`]),
    ...(platform === 'node' ? [`--banner:js=${AROUND.trim()}`] : []),
    ...builtin.map((pattern) => `--external:${pattern}`),
    ...Object.entries(env).map(([name, value]) => `--define:process.env.${name}=${JSON.stringify(value)}`),
  ]
  await run(join(ROOT, 'node_modules/.bin/esbuild'), [resolve(entry), ...flags], {
    cwd: ROOT,
    env: { ...process.env, NODE_PATH: packages },
  })
}
