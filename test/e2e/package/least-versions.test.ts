import { LEAST_BY_ENTRY, LEAST_CLIENTS, LEAST_PEERS } from './least-versions.js'
import { NEIGHBOURS } from './typescripts.js'

const OLDEST: Readonly<Record<string, string>> = NEIGHBOURS.oldest

test('the docs name the least version of each client of a store', () => {
  expect(Object.keys(LEAST_CLIENTS).sort()).toEqual(['ioredis', 'iovalkey', 'memjs', 'mysql2', 'pg', 'redis'])
})

test('the docs and package.json name the same least versions', () => {
  expect(LEAST_PEERS).toMatchObject(LEAST_BY_ENTRY)
})

// What `package.test.ts` compiles beside the package.
test.each(Object.entries({ ...LEAST_CLIENTS, ...LEAST_PEERS }))(
  'types are checked beside %s %s, the least version that is named',
  (name, version) => {
    // Types in a package of their own follow its major version: those of pg 8 begin with 8.6.0.
    const [found, named] =
      name in OLDEST ? [OLDEST[name], version] : [OLDEST[`@types/${name}`], version].map(majorOf)
    expect(found).toBe(named)
  },
)

const majorOf = (version = '') => version.split('.', 1)[0]
