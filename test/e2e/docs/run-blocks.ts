/**
 * How code blocks in README.md, docs/ and the doc comments of src/ are tested.
 *
 * Each ```ts, ```js or ```cjs block is a module of its own. It is type-checked, in the long tests also under
 * plain `strict`, then run, and each server that it starts receives a GET and a POST for `/` and for each path
 * that the block names, such as `'/login'`; a 500 fails. Ports are changed to free ones. Comments above a block
 * say what it needs:
 *
 * - `<!-- with: app, login -->` puts these names of fixtures.ts in scope. An `app` is served too.
 * - `<!-- continues -->` puts the blocks that it continues before it, in one module.
 * - `<!-- file: map-store.ts -->` names its file, which others of the page import or start. A `.test.ts` or
 *   `.test.js` is run by `node --test`; other files run only as those do, so one of them has to name it.
 *
 * A block without a file name that imports `node:test` is also run by `node --test`.
 *
 * `req.user` is `{ id: string, plan: 'free' | 'pro' }`, as an application with sign-in would declare it.
 */
import { execFile, fork } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { nodeOf } from '../package/nodes.js'
import { compileBlocks, compiledFile, writeProject } from './compile-blocks.js'
import { linkFetchedPackages } from './fetched-packages.js'
import type { Block } from './pages.js'

const ROOT = resolve(__dirname, '../../..')
/** For each test file among named blocks: those of several processes start dozens of them. */
const TEST_TIMEOUT_MS = 240_000

/** The names of a sample of the tests of several processes: of those that are alike for all policies, one. */
const SAMPLE = '^\\d+ processes [^:]*(?:: tokenBucket.*)?$'

/** The languages that are run, and the ending of a module in each. */
const ENDINGS: Readonly<Record<string, string>> = { ts: '.ts', js: '.js', cjs: '.cjs' }

const SIGNED_IN = `declare namespace Express {
  interface Request { user?: { id: string; plan: 'free' | 'pro' } }
}
`

const TSCONFIG = {
  extends: '../../tsconfig.json',
  compilerOptions: { allowJs: true, checkJs: true, noUnusedLocals: false, noUnusedParameters: false },
  include: ['.'],
  exclude: ['node_modules'],
}

/** What most projects set: a type that ours accepts may be wrong under it, and the other way round. */
const PLAIN_STRICT = {
  extends: './tsconfig.json',
  compilerOptions: { exactOptionalPropertyTypes: false, noUncheckedIndexedAccess: false },
}

/** Services that blocks find in the environment. Nothing answers there. */
const SERVICES = { UPSTASH_REDIS_REST_URL: 'http://127.0.0.1:9', UPSTASH_REDIS_REST_TOKEN: 'token' }

/** What came of a block: no errors is a success. */
export interface Outcome {
  readonly block: Block
  readonly typeErrors: readonly string[]
  readonly runErrors: readonly string[]
}

/** Whether a block is run by `node --test`. */
function isTest({ file, code }: Block): boolean {
  return file === undefined ? code.includes("from 'node:test'") : /\.test\.[jt]s$/.test(file)
}

/** Whether a block is a Worker of Cloudflare, which the tests of Durable Objects run in workerd. */
export function isWorker({ code }: Block): boolean {
  return code.includes("from 'cloudflare:workers'")
}

/** Whether a block is code that is run on Node.js. */
export function isRun(block: Block): boolean {
  return Object.hasOwn(ENDINGS, block.language) && !isWorker(block)
}

/**
 * How much is tried. `short` checks types in the strictest configuration, and runs a sample of the tests of
 * several processes. `long` also checks them as most projects do, and runs all tests.
 */
export type Extent = 'short' | 'long'

const CONFIGS: Readonly<Record<Extent, readonly string[]>> = {
  short: ['tsconfig.json'],
  long: ['tsconfig.json', 'tsconfig.plain.json'],
}

/**
 * Type-checks and runs blocks; gives one outcome for each, in order. A block that has not ended in
 * `timeoutMs` is the last one that runs.
 */
export async function tryBlocks(
  blocks: readonly Block[],
  timeoutMs = 60_000,
  extent: Extent = 'short',
): Promise<Outcome[]> {
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.cache/docs-'))
  try {
    writeProject(folder)
    await linkFetchedPackages(folder, blocks)
    const modules = writeModules(folder, blocks)
    const typeErrors = await Promise.all(CONFIGS[extent].map((config) => typeErrorsIn(folder, config)))
    await compileBlocks(folder)
    const runErrors = new Map<string, readonly string[]>()
    const unnamed = modules.filter(({ block }) => block.file === undefined && !isTest(block))
    for (const [node, some] of await byNode(unnamed)) {
      const files = some.map(({ compiled }) => compiled)
      for (const [file, errors] of await runTogether(node, folder, files, timeoutMs))
        runErrors.set(file, errors)
    }
    for (const page of new Set(blocks.map((block) => block.page))) {
      const ofPage = modules.filter(({ block }) => block.page === page)
      for (const [file, errors] of await runTests(ofPage, TEST_TIMEOUT_MS, extent))
        runErrors.set(file, errors)
    }
    return modules.map(({ block, file, compiled }) => ({
      block,
      typeErrors: typeErrors.flatMap((found) => found.get(basename(file)) ?? []),
      runErrors: runErrors.get(compiled) ?? [
        'it was never run: the process ended before, or ran out of time',
      ],
    }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Module {
  readonly block: Block
  readonly file: string
  /** The file that runs. */
  readonly compiled: string
}

function writeModules(folder: string, blocks: readonly Block[]): Module[] {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  writeFileSync(join(folder, 'tsconfig.plain.json'), JSON.stringify(PLAIN_STRICT))
  writeFileSync(join(folder, 'signed-in.d.ts'), SIGNED_IN)
  return blocks.map((block, i) => {
    const ownName = `${block.page}-${placeOf(block)}`.replace(/\W+/g, '-') + ENDINGS[block.language]
    const file = join(folder, block.file ?? ownName)
    if (existsSync(file)) throw new Error(`${block.page}:${block.line} is a second ${block.file}`)
    writeFileSync(file, moduleOf(chainOf(blocks, i)))
    return { block, file, compiled: compiledFile(file) }
  })
}

/** The line of a block and, in a table, its column. */
export function placeOf({ line, column }: Block): string {
  return column === undefined ? `${line}` : `${line}:${column}`
}

/** A block, after those that it continues. */
function chainOf(blocks: readonly Block[], i: number): readonly Block[] {
  const block = blocks[i] as Block
  if (!block.continues) return [block]
  if (blocks[i - 1]?.page !== block.page) throw new Error(`${block.page}:${block.line} continues nothing`)
  return [...chainOf(blocks, i - 1), block]
}

/**
 * Puts the code on the lines that it has on its page, so that errors point there; fixtures go into the line
 * before.
 */
function moduleOf(chain: readonly Block[]): string {
  const [first] = chain as [Block]
  const names = [...new Set(chain.flatMap((block) => block.fixtures))].join(', ')
  const load = first.language === 'cjs' ? "require('./fixtures.js')" : "await import('./fixtures.js')"
  const lines = Array<string>(first.line - 2).fill('')
  lines.push(names === '' ? '' : `const { ${names} } = (${load}).fixtures()`)
  for (const { line, code } of chain) {
    while (lines.length < line - 1) lines.push('')
    lines.push(...code.split('\n'))
  }
  return `${lines.join('\n')}\n`
}

/** Groups modules by the path of the Node.js that runs them. */
async function byNode(modules: readonly Module[]): Promise<Map<string, Module[]>> {
  const groups = new Map<string, Module[]>()
  for (const module of modules) {
    const node = await nodeFor([module])
    groups.set(node, [...(groups.get(node) ?? []), module])
  }
  return groups
}

/** Returns the running Node.js; a newer one if this one has no `node:sqlite`, and a module imports that. */
async function nodeFor(modules: readonly Module[]): Promise<string> {
  const isNew = modules.some(({ block }) => block.code.includes("'node:sqlite'"))
  return isNew && !isBuiltin('node:sqlite') ? (await nodeOf('22')).path : process.execPath
}

/** What tsc says, by the file that it says it of. Throws for what it says of no file of the folder. */
function typeErrorsIn(folder: string, config: string): Promise<Map<string, string[]>> {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  return new Promise((done, reject) => {
    // More than one thread takes twice the work: each resolves the same types.
    const args = [tsc, '-p', join(folder, config), '--pretty', 'false', '--singleThreaded']
    execFile(process.execPath, args, { cwd: folder }, (error, stdout) => {
      const found = new Map<string, string[]>()
      for (const message of stdout.split(/\n(?!\s)/).filter((line) => line !== '')) {
        const file = /^([^/(]+)\(/.exec(message)?.[1]
        if (file === undefined) return reject(new Error(`tsc: ${message}`))
        found.set(file, [...(found.get(file) ?? []), message])
      }
      if (error !== null && found.size === 0) return reject(error)
      done(found)
    })
  })
}

/** Runs modules one after the other in a process of their own; gives the errors of those that it came to. */
function runTogether(
  execPath: string,
  folder: string,
  files: readonly string[],
  timeoutMs: number,
): Promise<Map<string, readonly string[]>> {
  return new Promise((done) => {
    const found = new Map<string, readonly string[]>()
    const child = fork(join(folder, 'block-runner.js'), files, {
      cwd: folder, // what blocks write stays there
      env: { ...process.env, ...SERVICES },
      execPath,
      execArgv: ['--enable-source-maps'],
      stdio: 'pipe',
    })
    const timeout = setTimeout(() => child.kill(), timeoutMs)
    child.stdout?.resume()
    child.stderr?.resume()
    child.on('message', ({ file, errors }: { file: string; errors: string[] }) => {
      found.set(file, errors)
      timeout.refresh()
    })
    child.on('exit', () => {
      clearTimeout(timeout)
      done(found)
    })
  })
}

/**
 * Runs the tests of a page; gives their errors, and those of named files that no other block names.
 */
async function runTests(
  modules: readonly Module[],
  timeoutMs: number,
  extent: Extent,
): Promise<Map<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>()
  const node = await nodeFor(modules)
  for (const { block, compiled } of modules) {
    const isSampled = extent === 'short' && block.code.includes('storeExactness(')
    const args = isSampled ? [`--test-name-pattern=${SAMPLE}`, compiled] : [compiled]
    if (isTest(block)) found.set(compiled, await testErrorsIn(node, args, timeoutMs))
    if (isTest(block) || block.file === undefined) continue
    const name = `./${block.file.replace(/\.ts$/, '.js')}`
    const isNamed = modules.some((other) => other.block !== block && other.block.code.includes(name))
    found.set(compiled, isNamed ? [] : [`no other block names ${name}`])
  }
  return found
}

/** What `node --test` says of a file that fails, or that has no tests. */
function testErrorsIn(node: string, args: readonly string[], timeout: number): Promise<readonly string[]> {
  const flags = ['--enable-source-maps', '--test', '--test-reporter', 'tap', ...args]
  return new Promise((done) => {
    execFile(node, flags, { cwd: ROOT, timeout, maxBuffer: 64e6 }, (error, stdout, stderr) => {
      const passed = Number(/^# pass (\d+)$/m.exec(stdout)?.[1] ?? 0)
      done(error === null && passed > 0 ? [] : [`${error ?? 'no test ran'}\n${stdout}${stderr}`])
    })
  })
}
