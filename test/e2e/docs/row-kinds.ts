/** How a cell of each kind becomes a module, on one line: see `rows.ts`. */
type Complete = (cell: string) => string

const FIVE_A_MINUTE = "limit: 5, window: '1m'"
/** With a ban, which `blockFor` needs. */
const BANNING = "ban(slidingWindow({ limit: 5, window: '1m' }), { after: 5, within: '1m', for: '15m' })"

const KINDS: Readonly<Record<string, Complete>> = {
  'rateLimit options': (cell) => `app.use(rateLimit({ ${withLimit(cell)} }))`,
  'rateLimit calls': (cell) =>
    `const api = rateLimit({ ${FIVE_A_MINUTE} }); ` +
    handlerOf(`const req = request; const decision = req.rateLimit as Decision; ${cell}`),
  'createLimiter options': (cell) =>
    `const limiter = createLimiter<string>({ ${withKey(cell)} }); ` +
    "await limiter.charge('ada'); await limiter.charge('ada')",
  'createLimiter calls': (cell) =>
    `const limiter = createLimiter<string>({ key: (id) => id, policy: ${BANNING} }); ` +
    `const id = 'ada'; const decision = await limiter.charge(id); ${cell}`,
  'Express calls': (cell) => cell,
  policies: (cell) => `app.use(rateLimit({ policy: ${cell} }))`,
  'express-rate-limit options': (cell) => {
    const options = names(cell, 'max') ? cell : withDefaults(cell, ['limit: 1'])
    return `app.use(expressRateLimit({ ${options} }))`
  },
  'express-rate-limit calls': (cell) =>
    `const api = expressRateLimit(); ${handlerOf(`const req = request as object as Limited; ${cell}`)}`,
  'express-slow-down options': (cell) => `app.use(slowDown({ ${cell} }))`,
  'rate-limiter-flexible options': (cell) => `constructAll({ ${cell} })`,
  'rate-limiter-flexible calls': (cell) =>
    'const limiter = new RateLimiterMemory({ points: 5, duration: 60 }); ' +
    `const id = 'ada'; const result = await limiter.consume(id); ${cell}`,
  'RateLimitModule options': (cell) => `await serve([RateLimitModule.forRoot({ ${withLimit(cell)} })])`,
  '@nestjs/throttler options': (cell) => `await throttle({ ${cell} })`,
  'ThrottlerGuard methods': (cell) =>
    `class Guard extends ThrottlerGuard { ${cell} }; await throttle({ limit: 1 }, Guard)`,
  'Nest modules': (cell) => `await serve([${cell}])`,
  'Nest decorators': (cell) => serveBoth(`@All() ${cell} hello() { return 'hello' }`),
  'Nest parameters': (cell) => serveBoth(`constructor(${cell}) {} @All() hello() { return 'hello' }`),
}

/** Where the names come from that cells may use, beside `app`. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  headgate: [
    ...['ban', 'concurrency', 'consecutive', 'fixedWindow', 'quota', 'slidingLog', 'slidingWindow'],
    'tokenBucket',
    ...['byField', 'byHeader', 'byIp', 'byRoute', 'byUser'],
    ...['createLimiter', 'memoryStore', 'rateLimit', 'type Decision'],
  ],
  'headgate/nest': ['RateLimit', 'RateLimiters', 'RateLimitModule', 'SkipRateLimit'],
  'headgate/memcached': ['memcachedStore'],
  'headgate/mysql': ['mysqlStore'],
  'headgate/postgres': ['postgresStore'],
  'headgate/redis': ['redisStore'],
  'express-rate-limit': ['ipKeyGenerator', 'MemoryStore', 'MINUTE'],
  'express-slow-down': ['slowDown'],
  'rate-limiter-flexible': ['RateLimiterMemory'],
  '@nestjs/common': ['All', 'Controller', 'type ExecutionContext', 'HttpException', 'Inject'],
  '@nestjs/throttler': [
    ...['InjectThrottlerStorage', 'minutes', 'SkipThrottle', 'Throttle', 'ThrottlerGuard', 'ThrottlerModule'],
    'type ThrottlerStorage',
  ],
  express: ['type Request'],
  './nest-scope.js': ['LIMIT', 'LimitModule', 'redisStorage', 'serve', 'throttle'],
  './row-scope.js': [
    ...['by56', 'by64', 'clients', 'free', 'isPro', 'isStaff', 'log', 'minute', 'pro'],
    ...['constructAll', 'expressRateLimit', 'type Limited'],
  ],
}

/** What `clients` of `row-scope.ts` returns. */
const CLIENTS = ['memjs', 'pgPool', 'pool', 'redis']

export function isKind(kind: string): boolean {
  return Object.hasOwn(KINDS, kind)
}

/** A route behind `api`. */
function handlerOf(code: string): string {
  return `app.get('/', api, async (request, res) => { ${code}; res.end() })`
}

/** A controller with these members, in an application with both packages. */
function serveBoth(members: string): string {
  const theirs = 'ThrottlerModule.forRoot([{ ttl: 60_000, limit: 1 }])'
  const ours = `RateLimitModule.forRoot({ ${FIVE_A_MINUTE} })`
  return `@Controller() class AppController { ${members} }; await serve([${theirs}, ${ours}], AppController)`
}

/** The module of a cell, with the imports of the names that it uses. */
export function codeOfCell(kind: string, cell: string): string {
  const opens = CLIENTS.filter((name) => new RegExp(`\\b${name}\\b`).test(cell))
  const opened = opens.length === 0 ? '' : `const { ${opens.join(', ')} } = clients(); `
  const code = opened + (KINDS[kind] as Complete)(cell)
  const imports = Object.entries(MODULES).flatMap(([module, exported]) => {
    const used = exported.filter((name) => new RegExp(`\\b${name.replace('type ', '')}\\b`).test(code))
    return used.length === 0 ? [] : [`import { ${used.join(', ')} } from '${module}'; `]
  })
  return imports.join('') + code
}

/** A limit for options without one: the second of two requests is denied. */
function withLimit(cell: string): string {
  if (names(cell, 'policy') || names(cell, 'limits')) return cell
  return withDefaults(cell, ['limit: 1', "window: '1m'"])
}

function withKey(cell: string): string {
  return names(cell, 'limits') ? cell : withDefaults(withLimit(cell), ['key: (id) => id'])
}

/** Options, after those of `defaults` that they do not name. */
function withDefaults(cell: string, defaults: readonly string[]): string {
  return [...defaults.filter((option) => !names(cell, option.split(':')[0] as string)), cell].join(', ')
}

function names(cell: string, option: string): boolean {
  return new RegExp(`\\b${option}:`).test(cell)
}
