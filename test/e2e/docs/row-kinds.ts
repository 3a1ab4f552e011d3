/** How a cell of each kind becomes a module, on one line: see `rows.ts`. */
type Complete = (cell: string) => string

const FIVE_A_MINUTE = "limit: 5, window: '1m'"
/** With a ban, which `blockFor` needs. */
const BANNING = "ban(slidingWindow({ limit: 5, window: '1m' }), { after: 5, within: '1m', for: '15m' })"

/** What code of a package is: options, as in `limit: 5, window: '1m'`, or otherwise statements. */
const KINDS: Readonly<Record<string, Complete>> = {
  rateLimit: optionsOr(
    (options) => `app.use(rateLimit({ ${withLimit(options)} }))`,
    (code) =>
      `const api = rateLimit({ ${FIVE_A_MINUTE} }); ` +
      handlerOf(`const req = request; const decision = req.rateLimit as Decision; ${code}`),
  ),
  createLimiter: optionsOr(
    (options) =>
      `const limiter = createLimiter<string>({ ${withKey(options)} }); ` +
      "await limiter.charge('ada'); await limiter.charge('ada')",
    (code) =>
      `const limiter = createLimiter<string>({ key: (id) => id, policy: ${BANNING} }); ` +
      `const id = 'ada'; const decision = await limiter.charge(id); ${code}`,
  ),
  'express-rate-limit': optionsOr(
    (options) =>
      `app.use(expressRateLimit({ ${names(options, 'max') ? options : withDefaults(options, ['limit: 1'])} }))`,
    (code) =>
      `const api = expressRateLimit(); ${handlerOf(`const req = request as object as Limited; ${code}`)}`,
  ),
  'express-slow-down': (options) => `app.use(slowDown({ ${options} }))`,
  'rate-limiter-flexible': optionsOr(
    (options) => `constructAll({ ${options} })`,
    (code) =>
      'const limiter = new RateLimiterMemory({ points: 5, duration: 60 }); ' +
      `const id = 'ada'; const result = await limiter.consume(id); ${code}`,
  ),
  '@upstash/ratelimit': optionsOr(
    (options) =>
      `new Ratelimit({ ${withDefaults(options, ['redis: upstash', 'limiter: Ratelimit.fixedWindow(5, "1 m")'])} })`,
    (code) =>
      "const ratelimit = new Ratelimit({ redis: upstash, limiter: Ratelimit.fixedWindow(5, '1 m') }); " +
      `const id = 'ada'; const result = await ratelimit.limit(id); ${code}`,
  ),
  bottleneck: optionsOr(
    (options) => `new Bottleneck({ ${options} })`,
    (code) => `const limiter = new Bottleneck({ reservoir: 5 }); const work = async () => {}; ${code}`,
  ),
  policies: (policy) => `app.use(rateLimit({ policy: ${policy} }))`,
  '@nestjs/throttler': nestCode((options) => `await throttle({ ${options} })`),
  'headgate/nest': nestCode((options) => `await serve([RateLimitModule.forRoot({ ${withLimit(options)} })])`),
}

/** Where the names come from that cells may use, beside `app`. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  headgate: [
    ...['ban', 'concurrency', 'consecutive', 'fixedWindow', 'quota', 'slidingLog', 'slidingWindow'],
    'tokenBucket',
    ...['byField', 'byHeader', 'byIp', 'byRoute', 'byUser'],
    ...['adjustments', 'createLimiter', 'memoryStore', 'rateLimit', 'requestDelay', 'type Decision'],
  ],
  'headgate/nest': ['RateLimit', 'RateLimiters', 'RateLimitModule', 'SkipRateLimit'],
  'headgate/mysql': ['mysqlStore'],
  'headgate/redis': ['redisStore'],
  'express-rate-limit': ['ipKeyGenerator', 'MemoryStore'],
  'express-slow-down': ['slowDown'],
  'rate-limit-redis': ['RedisStore'],
  'rate-limiter-flexible': ['RateLimiterMemory'],
  '@upstash/ratelimit': ['Ratelimit'],
  '@upstash/redis': ['Redis'],
  bottleneck: ['default as Bottleneck'],
  '@nestjs/common': ['All', 'Controller', 'HttpException', 'Inject'],
  '@nestjs/throttler': [
    ...['InjectThrottlerStorage', 'minutes', 'SkipThrottle', 'Throttle', 'ThrottlerGuard', 'ThrottlerModule'],
    'type ThrottlerStorage',
  ],
  express: ['type Request'],
  './nest-scope.js': ['redisStorage', 'serve', 'throttle'],
  './row-scope.js': [
    ...['clients', 'free', 'isPro', 'isStaff', 'log', 'memoryLimiter', 'minute', 'pro'],
    ...['constructAll', 'expressRateLimit', 'type Limited', 'sendCommand', 'upstash'],
  ],
}

/** What `clients` of `row-scope.ts` returns. */
const CLIENTS = ['pool', 'redis']

export function isKind(kind: string): boolean {
  return Object.hasOwn(KINDS, kind)
}

/** A route behind `api`. */
function handlerOf(code: string): string {
  return `app.get('/', api, async (request, res) => { ${code}; res.end() })`
}

/** Completes options in one way, and statements in another. */
function optionsOr(completeOptions: Complete, completeCode: Complete): Complete {
  return (cell) => (/^\w+: /.test(cell) ? completeOptions(cell) : completeCode(cell))
}

/** A method of a guard, a module, a parameter of a constructor, a decorator of a handler, or options. */
function nestCode(completeOptions: Complete): Complete {
  return (cell) => {
    if (/^override /.test(cell)) {
      return `class Guard extends ThrottlerGuard { ${cell} }; await throttle({ limit: 1 }, Guard)`
    }
    if (/^\w+\.for/.test(cell)) return `await serve([${cell}])`
    if (/^@Inject/.test(cell)) return serveBoth(`constructor(${cell}) {} @All() hello() { return 'hello' }`)
    if (/^@/.test(cell)) return serveBoth(`@All() ${cell} hello() { return 'hello' }`)
    return completeOptions(cell)
  }
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
    const used = exported.filter((name) =>
      new RegExp(`\\b${name.replace(/^type |^default as /, '')}\\b`).test(code),
    )
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
