import { createLimiter, fixedWindow, rateLimit } from 'headgate'
import { dashboard } from 'headgate/dashboard'
import { readDashboardOptions } from '../../../../src/dashboard/server/options.js'

const policy = fixedWindow({ limit: 5, window: '1m' })
const api = createLimiter<string>({ name: 'api', policy, key: (id) => id })
const sameName = createLimiter<string>({ name: 'api', policy, key: (id) => id, prefix: 'other' })
const unnamed = createLimiter<string>({ policy, key: (id) => id })
const middleware = rateLimit({ limit: 5, window: '1m' })
const authorize = () => true

const FIX = 'Write authorize: (req) => req.user?.isAdmin === true. Whoever it lets in can change limits.'
const LIST = 'limiters must be an array of 1 to 200 limiters'

const WRONG: readonly (readonly [string, unknown, string])[] = [
  [
    'no options',
    undefined,
    'options must be an object, got undefined. Known options: limiters, authorize, operator, hosts, label.',
  ],
  ['no authorize', { limiters: [api] }, `authorize must be a function, got undefined. ${FIX}`],
  ['authorize: true', { limiters: [api], authorize: true }, 'authorize must be a function, got true.'],
  [
    'a misspelled authorize',
    { limiters: [api], authorise: authorize },
    'there is no option "authorise". Write authorize instead.',
  ],
  [
    'an operator that is no function',
    { limiters: [api], authorize, operator: 'ada' },
    'operator must be a function, got a string.',
  ],
  [
    'a host outside a list',
    { limiters: [api], authorize, hosts: 'a.example' },
    `hosts must be an array of hosts, got "a.example". Write hosts: ['limits.example.com'].`,
  ],
  [
    'a URL as a host',
    { limiters: [api], authorize, hosts: ['a.example', 'https://b.example'] },
    "hosts[1] must be a name or an IP address, with or without a port, got a string. Did you mean 'b.example'?",
  ],
  ['a wildcard', { limiters: [api], authorize, hosts: ['*.example'] }, 'hosts[0] must be a name'],
  [
    'true for any host',
    { limiters: [api], authorize, hosts: true },
    'hosts must be an array of hosts, got true.',
  ],
  [
    'host in place of hosts',
    { limiters: [api], authorize, host: ['a.example'] },
    'there is no option "host". Write hosts instead.',
  ],
  ['no limiters', { authorize }, `${LIST}, got undefined. Write limiters: [api.limiter].`],
  [
    'an empty list',
    { limiters: [], authorize },
    `${LIST}, got an array of 0. Write limiters: [api.limiter].`,
  ],
  ['a limiter outside a list', { limiters: api, authorize }, `${LIST}, got an object.`],
  ['too many limiters', { limiters: Array(201).fill(api), authorize }, `${LIST}, got an array of 201.`],
  [
    'limiter in place of limiters',
    { limiter: api, authorize },
    'there is no option "limiter". Write limiters instead.',
  ],
  [
    'middleware in place of its limiter',
    { limiters: [api, middleware], authorize },
    "limiters[1] must be a headgate limiter, got a function. Did you mean the middleware's property limiter?",
  ],
  [
    'another function',
    { limiters: [authorize], authorize },
    'limiters[0] must be a headgate limiter, got a function. Write api.limiter.',
  ],
  [
    'another object',
    { limiters: [{ name: 'api' }], authorize },
    'limiters[0] must be a headgate limiter, got an object. Write api.limiter.',
  ],
  ['null in the list', { limiters: [null], authorize }, 'limiters[0] must be a headgate limiter, got null.'],
  [
    'a limiter twice',
    { limiters: [api, unnamed, api], authorize },
    "the limiter 'api' is listed twice. List each limiter once, and give each its own name.",
  ],
  [
    'two limiters of one name',
    { limiters: [api, sameName], authorize },
    "the limiter 'api' has the same name as another. List each limiter once, and give each its own name.",
  ],
]

test.each(WRONG)('%s is a TypeError with the fix', (_, options, message) => {
  const create = () => dashboard(options as never)
  expect(create).toThrow(TypeError)
  expect(create).toThrow(`dashboard: ${message}`)
})

test('all that is wrong is in one error', () => {
  expect(() => dashboard({ limiters: [] } as never)).toThrow(/limiters must be(.|\n)*authorize must be/)
})

test('limiters without a name are numbered by their place in the list', () => {
  const { limiters } = readDashboardOptions({ limiters: [api, unnamed, middleware.limiter], authorize })
  expect(limiters.map(({ name }) => name)).toEqual(['api', 'limiter-2', 'limiter-3'])
})

test('hosts are compared in lower case, as browsers send them', () => {
  const { hosts } = readDashboardOptions({
    limiters: [api],
    authorize,
    hosts: ['Limits.Example:8080', '[::1]'],
  })
  expect(hosts).toEqual(['limits.example:8080', '[::1]'])
})
