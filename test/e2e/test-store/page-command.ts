import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { storeConformance, storeExactness } from 'headgate/testing'
import { bundle } from '../../support/servers/bundle.js'
import { blocksOf } from '../docs/pages.js'
import { ROOT } from '../package/run.js'
import { bundleProgram, type Report, runTestStore } from './run-test-store.js'

const blocksIn = (path: string) => blocksOf({ path, text: readFileSync(join(ROOT, path), 'utf8') })

/** Returns what a page has the reader type after `npx headgate test-store`. */
function argumentsOn(page: string): readonly string[] {
  const commands = blocksIn(page).flatMap(
    ({ code }) => /^npx headgate test-store (.*)$/m.exec(code)?.[1] ?? [],
  )
  expect(commands).toHaveLength(1)
  return commands.join().split(' ')
}

/** Calls `use` with a folder for files that import packages of the checkout. */
export async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.cache/test-store-'))
  await use(folder).finally(() => rmSync(folder, { recursive: true, force: true }))
}

/** Writes the code of the page for services that only a Worker or Deno can reach. Returns its file. */
export function writeRemote(folder: string): string {
  const [block] = blocksIn('docs/writing-a-store.md').filter(({ code }) => code.includes('testServer('))
  const file = join(folder, 'remote.ts')
  writeFileSync(file, block?.code ?? '')
  return file
}

/** Runs the command of a page in a folder that has the module it names. All tests must run, and pass. */
export async function expectPass(
  page: string,
  module: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const args = argumentsOn(page)
  const [program, compiled] = await Promise.all([bundleProgram(), bundle(module)])
  try {
    cpSync(compiled.path, join(compiled.folder, args[0] ?? ''))
    writeFileSync(join(compiled.folder, 'package.json'), '{ "type": "module" }')
    const { code, stdout, stderr } = await runTestStore(program, [...args, '--json'], {
      env,
      cwd: compiled.folder,
    })
    const { tests }: Report = JSON.parse(stdout || '{ "tests": [] }')
    expect(tests.filter(({ passed }) => !passed)).toEqual([])
    expect([code, stderr]).toEqual([0, ''])
    expect(tests.map(({ name }) => name)).toEqual(namesFor(args))
  } finally {
    await Promise.all([program.remove(), compiled.remove()])
  }
}

function namesFor(args: readonly string[]): readonly string[] {
  const unused = () => {
    throw new Error('only the names are read')
  }
  const atomicAcrossKeys = !args.includes('--not-atomic')
  const capabilities = { settableClock: false, anyKey: true, atomicAcrossKeys }
  const conformance = storeConformance({ makeStore: unused, capabilities })
  const exactness = storeExactness({ startProcess: unused, capabilities: { atomicAcrossKeys } })
  return [...conformance, ...(args.includes('--exact') ? exactness : [])].map(({ name }) => name)
}
