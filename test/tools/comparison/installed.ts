import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { builtinModules, createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

/** Commands and tests run in the root of the repository. */
const ROOT = process.cwd()

/** The cells of a package, by the head of their row. */
export async function installed(name: string): Promise<Readonly<Record<string, string>>> {
  const folders = name === 'headgate' ? [ROOT] : [...foldersOf(name, ROOT)]
  const bytes = folders.flatMap(filesOf).reduce((sum, file) => sum + statSync(file).size, 0)
  const { version } = manifestIn(folders[0] ?? '')
  return {
    Version: version === '0.0.0' ? 'unreleased' : version,
    'Packages installed': String(folders.length),
    'Installed size, MB': (bytes / 1e6).toFixed(1),
    'Runs without Node.js modules': (await needsNode(name)) ? 'no' : 'yes',
  }
}

/** The folders of a package and of its dependencies. */
function foldersOf(name: string, from: string, found = new Set<string>()): ReadonlySet<string> {
  const folder = realpathSync(folderOf(name, from))
  if (found.has(folder)) return found
  found.add(folder)
  const { dependencies = {} } = manifestIn(folder)
  for (const dependency of Object.keys(dependencies)) foldersOf(dependency, folder, found)
  return found
}

/** Where Node.js finds a package: in the nearest `node_modules`. */
function folderOf(name: string, from: string): string {
  const folder = join(from, 'node_modules', name)
  return existsSync(folder) || from === dirname(from) ? folder : folderOf(name, dirname(from))
}

function manifestIn(folder: string): { version: string; dependencies?: Readonly<Record<string, string>> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** The files of an installed package; of this one, those that it publishes. */
function filesOf(folder: string): string[] {
  if (folder !== ROOT) {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(
        (entry) =>
          entry.isFile() && !join(entry.parentPath, '/').slice(folder.length).includes('/node_modules/'),
      )
      .map((entry) => join(entry.parentPath, entry.name))
  }
  const pack = ['pack', '--dry-run', '--json', '--ignore-scripts', folder]
  const printed = execFileSync('npm', pack, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const [{ files }] = JSON.parse(printed) as [{ files: { path: string }[] }]
  return files.map(({ path }) => join(folder, path))
}

/** Whether the package imports modules of Node.js, or packages that do. Its peers are not looked into. */
async function needsNode(name: string): Promise<boolean> {
  const require = createRequire(join(ROOT, 'package.json'))
  const builtins = new Set<string>()
  const ofNode = new RegExp(`^(?:node:)?(?:${builtinModules.join('|')})$`)
  await build({
    stdin: { contents: `export * from ${JSON.stringify(name)}`, resolveDir: ROOT },
    ...{ bundle: true, write: false, format: 'esm', platform: 'neutral', mainFields: ['module', 'main'] },
    conditions: ['import'],
    tsconfigRaw: {},
    plugins: [
      {
        name: 'modules of Node.js',
        setup(builder) {
          builder.onResolve({ filter: ofNode }, ({ path }) => {
            builtins.add(path)
            return { path, external: true }
          })
        },
      },
    ],
    external: Object.keys(require('./package.json').devDependencies).filter((dev) => dev !== name),
  })
  return builtins.size > 0
}
