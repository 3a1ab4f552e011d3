import { byField } from 'headgate'
import { recordWarnings } from '../../support/warnings.js'
import { identityOf } from './identities.js'

const warnings = recordWarnings()

/** The identity of a login from `address` with this body. */
function login(body: unknown, address = '192.0.2.7', key = byField('username')): string | undefined {
  return identityOf(key, { body, headers: {}, socket: { remoteAddress: address } })
}

const malformedOf = (address: string) => login({ username: null }, address)

const malformed: [string, unknown][] = [
  ['no body', undefined],
  ['a body that is null', null],
  ['a body of text', 'username=bob'],
  ['a body that is a buffer', Buffer.from('username=bob')],
  ['a body that is a list', [{ username: 'bob' }]],
  ['an empty body', {}],
  ['another field', { user: 'bob' }],
  ['null', { username: null }],
  ['undefined', { username: undefined }],
  ['true', { username: true }],
  ['false', { username: false }],
  ['a list', { username: ['bob'] }],
  ['an empty list', { username: [] }],
  ['an object', { username: { $gt: '' } }],
  ['an object that spells a name', { username: { toString: () => 'bob' } }],
  ['a function', { username: () => 'bob' }],
  ['a symbol', { username: Symbol('bob') }],
  ['NaN', { username: Number.NaN }],
  ['infinity', { username: Number.POSITIVE_INFINITY }],
  ['a string of 2 KB', { username: 'x'.repeat(2048) }],
  ['a string of 1025 characters', { username: 'x'.repeat(1025) }],
  ['1025 characters that are blank but for one', { username: `${' '.repeat(1024)}b` }],
  ['few characters that normalise to very many', { username: '\ufdfa'.repeat(1000) }],
  ['a NUL', { username: 'bob\0' }],
  ['a NUL in front', { username: '\0bob' }],
  ['a control character', { username: 'bob\u0001' }],
  ['a line feed within', { username: 'bob\nbob' }],
  ['a tab around', { username: '\tbob' }],
  ['a byte order mark in front', { username: '\ufeffbob' }],
  ['a soft hyphen', { username: 'bo\u00adb' }],
  ['a zero-width space', { username: 'b\u200bob' }],
  ['a joiner', { username: 'b\u200dob' }],
  ['a mark of direction', { username: '\u202ebob' }],
  ['an Arabic number sign', { username: 'bob\u0600' }],
  ['an interlinear annotation', { username: 'bob\ufff9' }],
  ['a tag', { username: 'bob\u{e0020}' }],
  ['a private-use character', { username: 'bob\ue000' }],
  ['an unassigned code point', { username: 'bob\uffff' }],
  ['an empty name', { username: '' }],
  ['blanks', { username: ' \u3000' }],
  ['a lone high surrogate', { username: 'bob\ud800' }],
  ['a lone low surrogate', { username: '\udc00bob' }],
  ['a name given to the prototype', JSON.parse('{"__proto__":{"username":"x"}}')],
  ['an inherited name', Object.create({ username: 'bob' })],
]

test.each(malformed)('%s is malformed, and limited per source address', (_what, body) => {
  expect(login(body)).toBe(malformedOf('192.0.2.7'))
  expect(login(body, '192.0.2.8')).toBe(malformedOf('192.0.2.8'))
  expect(malformedOf('192.0.2.7')).not.toBe(malformedOf('192.0.2.8'))
})

test('malformed input from one IPv6 network shares one bucket', () => {
  const first = login({ username: [] }, '2001:db8:1234:5678::1')
  expect(login({ username: {} }, '2001:db8:1234:56ff::2')).toBe(first)
  expect(login({ username: {} }, '2001:db8:1234:5700::2')).not.toBe(first)
})

test('malformed input never has the key of a name with the same text', () => {
  const identities = ['malformed:192.0.2.7', 'value:', 'null', 'undefined', '[object Object]', 'NaN', 'true']
  expect(identities.map((username) => login({ username }))).not.toContain(malformedOf('192.0.2.7'))
})

test.each([
  [
    'bob',
    [
      'bob',
      'Bob',
      'BOB',
      ' bob',
      'Bob ',
      'ｂｏｂ',
      'ＢＯＢ ',
      '\u3000bob',
      '\u00a0BOB',
      '\u2003bob\u2028',
      'b\u034fob\ufe0f',
      '\u3164bob\u{e0100}',
    ],
  ],
  ['josé', ['josé', 'JOSÉ', 'jose\u0301', ' Jose\u0301 ']],
  ['fi', ['fi', '\ufb01', 'FI']],
  ['strauss', ['strauss', 'strauß', 'STRAUẞ', 'ſtrauſſ']],
  ['οδός', ['οδός', 'ΟΔΌΣ', 'οδόσ']],
  ['İstanbul', ['İstanbul', 'i̇stanbul']],
  ['7', ['7', 7, ' 7 ', 7.0, '７']],
])('all spellings of %s are one key, from any address', (_name, spellings) => {
  const identities = spellings.map((username, i) => login({ username }, `192.0.2.${i}`))
  expect(new Set(identities).size).toBe(1)
})

test('different names are different', () => {
  const names = ['jose', 'josé', 'bob', 'bobb', 'b ob', 'b\u00f8b', 'b0b', 7, 77, -7, 7.5, '__proto__']
  const more = ['constructor', 'toString', '🙂', '日本', "bob'--", 'x'.repeat(1024), 'x'.repeat(1023)]
  const identities = [...names, ...more].map((username) => login({ username }))
  expect(new Set(identities).size).toBe(names.length + more.length)
})

test('a dotted name reads a nested field, and own properties only', () => {
  const key = byField('user.login.name')
  const nested = login({ user: { login: { name: 'Bob' } } }, '192.0.2.7', key)
  expect(nested).toBe(login({ username: 'bob' }))
  const broken = [
    { user: { login: 'bob' } },
    { user: { login: null } },
    { user: [] },
    { user: 'bob' },
    JSON.parse('{"user":{"__proto__":{"login":{"name":"bob"}}}}'),
  ]
  for (const body of broken) expect(login(body, '192.0.2.7', key)).toBe(malformedOf('192.0.2.7'))
})

test.each(['user.login.name', 'user.login[name]', 'user[login][name]'])(
  '%s reads a field of which a parser has nested only some parts',
  (field) => {
    const key = byField(field)
    const bodies = [
      { 'user.login': { name: 'Bob' } },
      { 'user[login]': { name: 'Bob' } },
      { user: { 'login.name': 'bob' } },
      { user: { 'login[name]': 'bob' } },
      { 'user.login.name': 'bob', 'user.login': { name: 'bob' } },
    ]
    for (const body of bodies) expect(login(body, '192.0.2.7', key)).toBe(login({ username: 'bob' }))
    const differing = { 'user.login': { name: 'ada' }, user: { login: { name: 'bob' } } }
    expect(login(differing, '192.0.2.7', key)).toBe(malformedOf('192.0.2.7'))
  },
)

test.each(['user.name', 'user[name]'])('%s reads each spelling of a field in a form', (field) => {
  const key = byField(field)
  const bodies = [{ 'user.name': 'Bob' }, { 'user[name]': 'bob' }, { user: { name: 'BOB' } }]
  for (const body of bodies) expect(login(body, '192.0.2.7', key)).toBe(login({ username: 'bob' }))
  const same = { 'user.name': 'bob', user: { name: 'bob' } }
  expect(login(same, '192.0.2.7', key)).toBe(login({ username: 'bob' }))
})

test('a body with several spellings of a field and different values is malformed', () => {
  const key = byField('user.name', { missing: 'skip' })
  const bodies = [
    { 'user.name': 'bob', user: { name: 'ada' } },
    { 'user.name': 'bob', 'user[name]': 'ada' },
    { 'user[name]': 'bob', user: { name: '' } },
    { 'user.name': ['bob'], user: { name: 'bob' } },
  ]
  for (const body of bodies) expect(login(body, '192.0.2.7', key)).toBe(malformedOf('192.0.2.7'))
})

test('a name without a dot or brackets reads the field of exactly that name', () => {
  for (const field of ['name', 'a..', '.a', '[a]', 'a[]', ']'])
    expect(login({ [field]: 'bob' }, '192.0.2.7', byField(field))).toBe(login({ username: 'bob' }))
})

test.each(['__proto__', 'constructor', 'toString.name', '__proto__.toString', 'constructor[name]', 'length'])(
  'a field called %s is not found where no client sent one',
  (name) => {
    for (const body of [{}, 'text', () => undefined]) {
      expect(login(body, '192.0.2.7', byField(name))).toBe(malformedOf('192.0.2.7'))
    }
  },
)

test("missing: 'skip' leaves requests without the field unlimited, and only those", () => {
  const key = byField('username', { missing: 'skip' })
  for (const body of [{}, undefined, null, { user: 'bob' }, JSON.parse('{"__proto__":{"username":"x"}}')]) {
    expect(login(body, '192.0.2.7', key)).toBeUndefined()
  }
  for (const username of [null, [], {}, true, 'x'.repeat(2048), 'a\0']) {
    expect(login({ username }, '192.0.2.7', key)).toBe(malformedOf('192.0.2.7'))
  }
})

test('normalize replaces the default, and what it returns is checked', () => {
  const exact = byField('username', { normalize: (value) => value })
  expect(login({ username: 'Bob' }, '192.0.2.7', exact)).not.toBe(
    login({ username: 'bob' }, '192.0.2.7', exact),
  )
  const nonsense = byField('username', { normalize: () => ({}) as string })
  expect(login({ username: 'Bob' }, '192.0.2.7', nonsense)).toBe(malformedOf('192.0.2.7'))
})

test('names with invisible characters are malformed before normalize sees them, and when it returns them', () => {
  const normalize = jest.fn((value: string) => value.replace('-', '\u200d'))
  const key = byField('username', { normalize })
  expect(key({ body: { username: 'bo\u200db' } })).toBeNull()
  expect(normalize).not.toHaveBeenCalled()
  expect(key({ body: { username: 'bo-b' } })).toBeNull()
  expect(key({ body: { username: 'bob' } })).toBe('bob')
  expect(normalize).toHaveBeenCalledTimes(2)
})

test.each([
  ['content-length', { 'content-length': '12' }, ['HEADGATE_NO_BODY']],
  ['transfer-encoding', { 'transfer-encoding': 'chunked' }, ['HEADGATE_NO_BODY']],
  [
    'a form',
    { 'content-length': '12', 'content-type': 'application/x-www-form-urlencoded' },
    ['HEADGATE_NO_BODY'],
  ],
  ['no bytes', { 'content-length': '0' }, []],
  ['a type that no parser was for', { 'content-length': '12', 'content-type': 'text/plain' }, []],
  ['neither length nor encoding', {}, []],
])('a request with %s whose body was never parsed emits the warnings %j', (_what, headers: object, codes) => {
  const key = byField('username')
  const json = { 'content-type': 'application/json; charset=utf-8', ...headers }
  for (let i = 0; i < 3; i++) expect(key({ headers: json })).toBeNull()
  expect(warnings()).toEqual(codes)
})

test('a parsed body without the field emits no warning', () => {
  byField('username')({ headers: { 'content-length': '2' }, body: {} })
  expect(warnings()).toEqual([])
})

test.each<[unknown, unknown, string]>([
  [
    undefined,
    {},
    "byField: name must be the name of a body field, got undefined. Did you mean byField('username')?",
  ],
  ['', {}, 'got "".'],
  [['username'], {}, 'got an array of 1.'],
  ['username', null, 'byField: options must be an object, got null.'],
  ['username', { normalize: 'lower' }, 'byField: normalize must be a function, got a string.'],
  ['username', { missing: 'skp' }, 'got "skp". Did you mean missing: \'skip\'?'],
  ['username', { missing: true }, "byField: missing must be one of 'address', 'skip', got true."],
  ['username', { normalise: String }, 'Did you mean normalize?'],
])('byField(%p, %p) throws an error with the fix', (name, options, message) => {
  expect(() => byField(name as string, options as object)).toThrow(TypeError)
  expect(() => byField(name as string, options as object)).toThrow(message)
})

test('no body of a client is an error, also for a subject that is not a request', () => {
  for (const [, body] of malformed) expect(identityOf(byField('username'), { body })).toMatch(/^[\w-]{22}$/)
})
