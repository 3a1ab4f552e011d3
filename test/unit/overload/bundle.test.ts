import { join, resolve } from 'node:path'
import { build } from 'esbuild'

const SRC = resolve(__dirname, '../../../src')

/** Returns the files of the overload guard in the bundle of a program. */
async function guardFilesOf(program: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: { contents: program, resolveDir: SRC, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
    metafile: true,
  })
  const [output] = Object.values(metafile.outputs)
  const inputs = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  return inputs.map(([path]) => resolve(path)).filter((path) => path.startsWith(join(SRC, 'overload')))
}

test('a program with rateLimit alone bundles nothing of the overload guard', async () => {
  const use = (name: string) => `import { ${name} } from './http.js'\nconsole.log(${name})`
  expect(await guardFilesOf(use('rateLimit'))).toEqual([])
  expect((await guardFilesOf(use('overloadGuard'))).length).toBeGreaterThan(10)
})
