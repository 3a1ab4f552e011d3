import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inRuntimes } from '../../runtimes/fetched.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'

/** Programs of this folder, which Deno runs on one file of Deno KV. */
export interface DenoPrograms {
  /** Starts a program, with the path of the file and then `args` as its arguments. */
  start(name: string, ...args: readonly string[]): ChildProcess
  remove(): Promise<void>
}

const HOW = {
  execArgv: ['run', '--quiet', '--no-prompt', '--no-config', '--unstable-kv', '--allow-all'],
  silent: true,
}

/** Bundles a program, and starts it with a folder for its default KV. */
export async function startDeno(path: string, folder: string): Promise<ChildProcess> {
  const execPath = await inRuntimes('.bin/deno')
  const program = await bundle(path)
  return fork(program.path, [], { ...HOW, execPath, env: { ...process.env, DENO_DIR: folder } })
}

/** Bundles programs for Deno. */
export async function denoPrograms(names: readonly string[]): Promise<DenoPrograms> {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-deno-kv-'))
  const bundles = new Map<string, Bundle>()
  for (const name of names) bundles.set(name, await bundle(join(__dirname, `${name}.ts`)))
  const execPath = await inRuntimes('.bin/deno')
  return {
    start(name, ...args) {
      const program = bundles.get(name)
      if (program === undefined) throw new Error(`${name} is not bundled`)
      return fork(program.path, [join(folder, 'limits.kv'), ...args], { ...HOW, execPath })
    },
    async remove() {
      rmSync(folder, { recursive: true, force: true })
      await Promise.all(Array.from(bundles.values(), (each) => each.remove()))
    },
  }
}
