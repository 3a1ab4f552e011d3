import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** The rooms of `src`, from the top down: a room imports from itself and from the rooms below it. */
const ROOMS = [
  ['cli'],
  ['adapters', 'testing', 'metrics', 'dashboard'],
  ['login'],
  ['http'],
  ['features'],
  ['limiter'],
  ['pipe'],
  ['stores'],
  ['policies', 'keys'],
  ['options'],
  ['util'],
]
const SRC = resolve(__dirname, '../../src')

interface Import {
  readonly from: string
  readonly to: string
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
const imports = files.flatMap((from): Import[] => {
  const source = readFileSync(join(SRC, from), 'utf8')
  return Array.from(source.matchAll(/^(?:import|export|\}) .*from '(\.[^']+)\.js'$/gm), ([, path = '']) => {
    return { from, to: join(dirname(from), `${path}.ts`) }
  })
})

const roomOf = (path: string) => path.slice(0, Math.max(0, path.indexOf('/')))
const levelOf = (room: string) => ROOMS.findIndex((level) => level.includes(room))

test('every file lies in a room, or is an entry of the package or its command', () => {
  const { exports, bin } = JSON.parse(readFileSync(join(SRC, '../package.json'), 'utf8'))
  const names = Object.keys(exports).filter((name) => name !== './package.json')
  const entries = names.map((name) => (name === '.' ? 'index.ts' : `${name.slice(2)}.ts`))
  const commands = Object.values<string>(bin).map((path) => basename(path).replace('.js', '.ts'))
  expect(files.filter((path) => roomOf(path) === '').sort()).toEqual([...entries, ...commands].sort())
  expect(files.filter((path) => roomOf(path) !== '' && levelOf(roomOf(path)) < 0)).toEqual([])
})

test('every relative import names a file', () => {
  expect(imports.length).toBeGreaterThan(files.length)
  expect(imports.filter(({ to }) => !files.includes(to))).toEqual([])
})

test.each(ROOMS.flat().map((room) => [room, importedBy(room)] as const))(
  '%s imports rooms below it only: %j',
  (room, imported) => {
    expect(imported.filter((other) => levelOf(other) <= levelOf(room))).toEqual([])
  },
)

test('no files import one another in a circle', () => {
  expect(circlesAmong(imports)).toEqual([])
})

test('the check finds a circle of imports', () => {
  const edges = [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
    { from: 'c', to: 'b' },
  ]
  expect(circlesAmong(edges)).toEqual(['b -> c -> b'])
})

test('docs/how-it-works.md lists the rooms in the order of their imports', () => {
  const page = readFileSync(join(SRC, '../docs/how-it-works.md'), 'utf8')
  const listed = Array.from(page.matchAll(/^\| (`src\/.*?) \|/gm), ([, cell = '']) =>
    Array.from(cell.matchAll(/`src\/(\w+)\/`/g), ([, room]) => room),
  )
  const present = ROOMS.map((level) => level.filter((room) => files.some((path) => roomOf(path) === room)))
  expect(listed).toEqual(present.filter((level) => level.length > 0))
})

/** Returns the other rooms that a room imports from. */
function importedBy(room: string): string[] {
  const rooms = imports.filter(({ from }) => roomOf(from) === room).map(({ to }) => roomOf(to))
  return [...new Set(rooms)].filter((other) => other !== room).sort((a, b) => levelOf(a) - levelOf(b))
}

/** Returns each circle once, as the path that closes it. */
function circlesAmong(edges: readonly Import[]): string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file)
    if (start >= 0) circles.push([...path.slice(start), file].join(' -> '))
    if (start >= 0 || done.has(file)) return
    for (const { from, to } of edges) if (from === file) visit(to, [...path, file])
    done.add(file)
  }
  for (const { from } of edges) visit(from, [])
  return circles
}
