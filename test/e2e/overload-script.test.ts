import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { build } from 'esbuild'

/** Runs a program on Node.js itself, since a loader keeps the process alive. Returns what it printed. */
async function run(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: resolve(__dirname, '../../src'), loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  })
  return execFileSync(process.execPath, ['--input-type=module', '-'], {
    input: outputFiles[0]?.text ?? '',
    encoding: 'utf8',
  })
}

test('a script does not end while one of its calls waits for a place', async () => {
  const printed = await run(`
    import { overloadGuard } from './http.js'
    const guard = overloadGuard({ minLimit: 1, maxLimit: 1 })
    guard.run(() => guard.run(() => 'never')).catch((error) => console.log(error.name))
  `)
  expect(printed).toBe('OverloadError\n')
})
