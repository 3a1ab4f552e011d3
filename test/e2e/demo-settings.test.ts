import { readSettings } from '../../examples/demo/settings.js'

/** What a variable cannot be, and what the demo says then. */
const REFUSED: readonly (readonly [variable: string, values: readonly string[], refusal: string])[] = [
  [
    'REDIS_URL',
    [
      'localhost:6379',
      'http://127.0.0.1:6379',
      'redis://',
      'redis://127.0.0.1:port',
      'redis://127.0.0.1/one',
    ],
    'REDIS_URL must be an address such as redis://127.0.0.1:6379, or rediss://... for TLS.',
  ],
  [
    'MEMCACHED_URL',
    [
      'memcached://127.0.0.1:11211',
      '127.0.0.1:port',
      '127.0.0.1:65536',
      '127.0.0.1:',
      'user@127.0.0.1',
      '127.0.0.1:11211,127.0.0.1:11212',
      '[::1]:11211',
    ],
    'MEMCACHED_URL must be an address such as 127.0.0.1:11211, or user:password@host:port.',
  ],
  [
    'DATABASE_URL',
    [
      'mysql://user:password@127.0.0.1:3306',
      'mariadb://user:password@127.0.0.1:3306/name',
      'mysql://user:password@127.0.0.1:99999/name',
      'sqlite:///name',
      '127.0.0.1:3306',
    ],
    'DATABASE_URL must be an address such as mysql://user:password@127.0.0.1:3306/name, ' +
      'or postgres://user:password@127.0.0.1:5432/name.',
  ],
]

const PORTS = ['http', '65536', '-1', '3000.5', '0x50']

const REDIS_URL = 'redis://127.0.0.1:6379'
const MEMCACHED_URL = '127.0.0.1:11211'
const DATABASE_URL = 'mysql://user:password@127.0.0.1:3306/name'

/** Returns what reading some settings prints before it exits with 1. */
function refusalOf(env: NodeJS.ProcessEnv): string {
  const printed: string[] = []
  const print = jest.spyOn(console, 'error').mockImplementation((line) => printed.push(line))
  const exit = jest.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit ${code}`)
  })
  try {
    expect(() => readSettings(env)).toThrow('exit 1')
  } finally {
    exit.mockRestore()
    print.mockRestore()
  }
  return printed.join('\n')
}

test.each(
  REFUSED.flatMap(([variable, values, refusal]) =>
    values.map((value) => [variable, value, refusal] as const),
  ),
)('the demo refuses %s=%s', (variable, value, refusal) => {
  expect(refusalOf({ [variable]: value })).toBe(refusal)
})

test.each(PORTS)('the demo refuses PORT=%s', (PORT) => {
  const must = 'PORT must be a whole number from 0 to 65535 (0 = any free port)'
  expect(refusalOf({ PORT })).toBe(`${must}, got "${PORT}".`)
})

test.each([
  [{ REDIS_URL, MEMCACHED_URL }, 'REDIS_URL and MEMCACHED_URL are both set.'],
  [{ REDIS_URL, DATABASE_URL }, 'REDIS_URL and DATABASE_URL are both set.'],
  [{ REDIS_URL, MEMCACHED_URL, DATABASE_URL }, 'REDIS_URL, MEMCACHED_URL and DATABASE_URL are all set.'],
])('the demo refuses more than one place for its limits: %j', (places, message) => {
  expect(refusalOf(places)).toBe(`${message} The demo keeps its limits in one place: unset the others.`)
})
