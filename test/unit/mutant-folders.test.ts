import { existsSync, readFileSync } from 'node:fs'

const FOLDERS: Readonly<Record<string, { readonly sources: string; readonly tests: readonly string[] }>> =
  JSON.parse(readFileSync('test/tools/mutants/folders.json', 'utf8'))

test.each(Object.entries(FOLDERS))(
  'mutation tests find the sources and tests of %s',
  (_folder, { sources, tests }) => {
    expect(existsSync(sources)).toBe(true)
    expect(tests.filter((path) => !existsSync(path) && !existsSync(`${path}.test.ts`))).toEqual([])
  },
)
