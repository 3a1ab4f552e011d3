import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { mustRun, ROOT, run } from './run.js'

const NEEDED = ['src', 'scripts', 'package.json', 'tsconfig.json']
const BUILD = ['scripts/build.mjs', '--code']

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'headgate-folder-'))
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

/** Builds a checkout, and returns the text of each built file by its path. */
async function build(checkout: string, target: string): Promise<Record<string, string>> {
  await mustRun(process.execPath, [...BUILD, target], checkout)
  const paths = readdirSync(target, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.\w+$/.test(path),
  )
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(target, path), 'utf8')]))
}

function checkOut(path: string): string {
  const checkout = join(folder, path)
  mkdirSync(checkout, { recursive: true })
  for (const name of NEEDED) cpSync(join(ROOT, name), join(checkout, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'), 'dir')
  return checkout
}

/** Folders whose names stand in paths of the checkout or of packages as well, one below the other. */
const BELOW = 'usr/src/my app/dist/types/node_modules/headgate'

test('the build is the same in a checkout below folders of any name, and beside it, and loads', async () => {
  const expected = await build(checkOut('beside/headgate'), join(folder, 'beside/head'))
  expect(Object.keys(expected)).toContain('esm/chunk-limiter.js')
  const checkout = checkOut(BELOW)
  const built = await build(checkout, join(checkout, 'dist'))
  expect(Object.keys(built)).toEqual(Object.keys(expected))
  expect(built).toEqual(expected)
  const load = `
    const { rateLimit } = require('headgate')
    import('headgate').then((module) => console.log(typeof rateLimit, typeof module.rateLimit))`
  const output = await mustRun(process.execPath, ['--eval', load], checkout)
  expect(output).toBe('function function\n')
})

test('a build into a folder that holds the checkout is refused', async () => {
  const checkout = checkOut('held/headgate')
  for (const target of [checkout, dirname(checkout)]) {
    const { code, stderr } = await run(process.execPath, [...BUILD, target], checkout)
    expect([code, stderr]).toEqual([1, expect.stringContaining('holds the sources, and would be emptied')])
  }
})
