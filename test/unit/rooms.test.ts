import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

const ROOT = resolve(__dirname, '../..')
const SRC = join(ROOT, 'src')

interface Override {
  readonly includes: readonly string[]
  readonly linter: {
    readonly rules: {
      readonly style: {
        readonly noRestrictedImports: {
          readonly options: { readonly patterns: readonly { readonly group: readonly string[] }[] }
        }
      }
    }
  }
}

const config: { readonly overrides: readonly Override[] } = JSON.parse(
  readFileSync(join(ROOT, 'biome.json'), 'utf8'),
)
const overrides = config.overrides.filter(({ includes }) =>
  includes.every((pattern) => pattern.startsWith('src/')),
)

/**
 * The rooms of `src`, each with those that it must not import from. The linter checks each import. In the
 * patterns for a room, a room inside it, such as `stores/redis`, has only its last name.
 */
const ROOMS = new Map(
  overrides.flatMap(({ includes, linter }) => {
    const [{ group } = { group: [] }] = linter.rules.style.noRestrictedImports.options.patterns
    return includes.map((pattern) => {
      const room = pattern.replace(/^src\/([\w/-]+)\/\*\*$/, '$1')
      const forbidden = group.map((each) =>
        each
          .replace(/^\*\*\/(?:\.\.\/)?([\w/-]+)\/\*\*$/, '$1')
          .replace(
            /^(?:deno-kv|dynamodb|durable-objects|redis|memcached|sql|cluster|builders)$/,
            `${room}/$&`,
          ),
      )
      return [room, forbidden] as const
    })
  }),
)
/** The room that may import from all others, and so has no rule. */
const TOP = 'cli'

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
const roomOf = (path: string) => {
  const [inner] = [...ROOMS.keys()].filter((room) => room.includes('/') && path.startsWith(`${room}/`))
  return inner ?? path.slice(0, Math.max(0, path.indexOf('/')))
}

/** What every room may import. */
const PLATFORM = 'platform.ts'

test('every file lies in a room, or is an entry of the package, its command or its platform', () => {
  const { exports, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const names = Object.keys(exports).filter((name) => name !== './package.json')
  const entries = names.map((name) => (name === '.' ? 'index.ts' : `${name.slice(2)}.ts`))
  const commands = Object.values<string>(bin).map((path) => basename(path).replace('.js', '.ts'))
  expect(files.filter((path) => roomOf(path) === '').sort()).toEqual(
    [...entries, ...commands, PLATFORM].sort(),
  )
  const rooms = new Set(files.map(roomOf).filter((room) => room !== ''))
  expect([...rooms].sort()).toEqual([...ROOMS.keys(), TOP].sort())
})

/** Returns whether two rooms are the same, or share a rule. */
const haveSameRule = (room: string, other: string) =>
  room === other ||
  overrides.some(({ includes }) => [room, other].every((each) => includes.includes(`src/${each}/**`)))

test('of any two rooms, at most one may import from the other', () => {
  expect(ROOMS.size).toBeGreaterThan(10)
  for (const room of ROOMS.keys()) {
    expect(ROOMS.get(room)).toContain(TOP)
    for (const other of ROOMS.keys())
      if (!haveSameRule(room, other) && !ROOMS.get(room)?.includes(other))
        expect(ROOMS.get(other)).toContain(room)
  }
})

test('docs/how-it-works.md lists the rooms in the order of their imports', () => {
  const page = readFileSync(join(ROOT, 'docs/how-it-works.md'), 'utf8')
  const listed = Array.from(page.matchAll(/^\| (`src\/.*?) \|/gm), ([, cell = '']) =>
    Array.from(cell.matchAll(/`src\/([\w/-]+)\/`/g), ([, room = '']) => room),
  )
  expect(listed.flat().sort()).toEqual([...ROOMS.keys(), TOP].sort())
  for (const [level, rooms] of listed.entries())
    for (const room of rooms)
      expect(ROOMS.get(room) ?? []).toEqual(expect.arrayContaining(listed.slice(0, level).flat()))
})
