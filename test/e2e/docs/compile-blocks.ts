import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mustRun, ROOT } from '../package/run.js'

/** What blocks and cells may import beside packages, and what runs them: modules of their folder. */
const BESIDE = ['fixtures.ts', 'row-scope.ts', 'nest-scope.ts', 'block-runner.ts']

/** Prepares a folder for blocks: a project with the modules beside them. */
export function writeProject(folder: string): void {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const name of BESIDE) cpSync(join(__dirname, name), join(folder, name))
}

/**
 * Builds headgate into a folder of blocks, and compiles its TypeScript, each file beside its source. A
 * process that compiles what it imports, as with tsx, takes a second longer, and some blocks start dozens of
 * processes.
 */
export async function compileBlocks(folder: string): Promise<void> {
  const headgate = join(folder, 'node_modules/headgate')
  mkdirSync(headgate, { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(headgate, 'package.json'))
  await mustRun(process.execPath, [join(ROOT, 'scripts/build.mjs'), '--code', join(headgate, 'dist')], ROOT)
  const sources = readdirSync(folder).filter((name) => /(?<!\.d)\.ts$/.test(name))
  const flags = ['--target=node20', '--sourcemap=inline', '--log-level=warning', '--outdir=.']
  await mustRun(join(ROOT, 'node_modules/.bin/esbuild'), [...sources, ...flags], folder)
}

/** The file that runs for one of a folder of blocks. */
export function compiledFile(source: string): string {
  return source.replace(/\.ts$/, '.js')
}
