import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ENTRIES } from './entries.js'
import { type ExportedNames, exportedNames } from './exported-names.js'
import { ROOT } from './run.js'

const GUARD_TYPES = ['LoginGuard', 'LoginGuardOptions', 'OverloadGuard', 'OverloadGuardOptions']
const HTTP_TYPES = [...GUARD_TYPES, 'RateLimitMiddleware', 'RateLimitOptions']
const HTTP_VALUES = ['byUser', 'loginGuard', 'overloadGuard', 'rateLimit']
/** These, and what makes options, with callbacks for the requests of a framework. */
const FRAMEWORK_VALUES = [...HTTP_VALUES, 'candidateLimits', 'requestDelay', 'responseCost'].sort()

/** The interface of the package. Whoever adds a name, or removes one, changes it here and in the docs. */
const NAMES: Readonly<Record<string, ExportedNames>> = {
  headgate: {
    values: HTTP_VALUES,
    types: ['ExpressRequest', 'ExpressResponse', ...HTTP_TYPES],
    includesHttp: true,
  },
  'headgate/http': {
    values: [
      'OverloadError',
      'SettingsConflictError',
      'StoreError',
      'adjustments',
      'ban',
      'byField',
      'byHeader',
      'byIp',
      'byRoute',
      'byUser',
      'candidateLimits',
      'concurrency',
      'consecutive',
      'createLimiter',
      'dumpMemory',
      'fixedWindow',
      'foldName',
      'identitiesOf',
      'leased',
      'logEvents',
      'loginGuard',
      'memoryStore',
      'overloadGuard',
      'quota',
      'rateLimit',
      'requestDelay',
      'responseCost',
      'responseFor',
      'restoreMemory',
      'sharedSettings',
      'slidingLog',
      'slidingWindow',
      'tokenBucket',
      'waitFor',
    ],
    types: [
      'CandidateMessage',
      'CandidateReport',
      'Decision',
      'DecisionMessage',
      'Duration',
      'FailureMessage',
      'Health',
      'KeyFunction',
      'Limiter',
      'LimiterDescription',
      'LimiterEvents',
      'LimiterOptions',
      'LoginGuard',
      'LoginGuardOptions',
      'MemoryStore',
      'MiddlewareLimiter',
      'OverloadGuard',
      'OverloadGuardOptions',
      'OverloadStatus',
      'PartDecision',
      'Policy',
      'RateLimitMiddleware',
      'RateLimitOptions',
      'RateLimited',
      'ResponseParts',
      'SecurityEvent',
      'SettingsChange',
      'SettingsDocument',
      'SettingsOverride',
      'SharedSettings',
      'Store',
      'StoreMessage',
    ],
    includesHttp: false,
  },
  'headgate/koa': {
    values: FRAMEWORK_VALUES,
    types: HTTP_TYPES,
    includesHttp: true,
  },
  'headgate/hono': {
    values: FRAMEWORK_VALUES,
    types: HTTP_TYPES,
    includesHttp: true,
  },
  'headgate/fetch': {
    values: FRAMEWORK_VALUES,
    types: ['FetchInfo', 'FetchSubject', ...GUARD_TYPES, 'RateLimit', 'RateLimitOptions'],
    includesHttp: true,
  },
  'headgate/fastify': {
    values: [...FRAMEWORK_VALUES, 'default', 'rateLimitHook'].sort(),
    types: [
      ...GUARD_TYPES,
      'RateLimitHook',
      'RateLimitHookOptions',
      'RateLimitPluginOptions',
      'RouteRateLimitOptions',
    ],
    includesHttp: true,
  },
  'headgate/redis': {
    values: ['customRedisStore', 'redisStore'],
    types: ['CommandWords', 'CustomRedisStoreOptions'],
    includesHttp: false,
  },
  'headgate/upstash': {
    values: ['upstashStore'],
    types: ['UpstashRedisClient', 'UpstashStoreOptions'],
    includesHttp: false,
  },
  'headgate/settings-file': {
    values: ['settingsFile'],
    types: ['FileSettings'],
    includesHttp: false,
  },
  'headgate/memcached': {
    values: ['memcachedStore'],
    types: [],
    includesHttp: false,
  },
  'headgate/mysql': {
    values: ['mysqlSchema', 'mysqlStore'],
    types: ['SqlStore'],
    includesHttp: false,
  },
  'headgate/postgres': {
    values: ['postgresSchema', 'postgresStore'],
    types: ['SqlStore'],
    includesHttp: false,
  },
  'headgate/sqlite': {
    values: ['sqliteSchema', 'sqliteStore'],
    types: ['SqlStore'],
    includesHttp: false,
  },
  'headgate/cluster': {
    values: ['clusterStore', 'serveChild'],
    types: ['ClusterStoreOptions', 'Store'],
    includesHttp: false,
  },
  'headgate/deno-kv': {
    values: ['denoKvStore'],
    types: [],
    includesHttp: false,
  },
  'headgate/durable-objects': {
    values: [
      'LimitsObject',
      'banKind',
      'concurrencyKind',
      'consecutiveKind',
      'durableObjectsStore',
      'fixedWindowKind',
      'limitsObject',
      'quotaKind',
      'slidingLogKind',
      'slidingWindowKind',
      'tokenBucketKind',
    ],
    types: [
      'DurableObjectsStoreOptions',
      'ObjectContext',
      'ObjectNamespace',
      'ObjectRequest',
      'ObjectStorage',
      'PolicyKind',
      'ServingObject',
    ],
    includesHttp: false,
  },
  'headgate/dynamodb': {
    values: ['dynamodbSchema', 'dynamodbStore'],
    types: ['DynamodbSchema', 'DynamodbStore'],
    includesHttp: false,
  },
  'headgate/store': {
    values: [
      'StoreError',
      'applyOperations',
      'compareAndSwapStore',
      'customStore',
      'keysOf',
      'optimisticStore',
      'ownerStore',
      'serveOperations',
      'transactionStore',
    ],
    types: [
      'Batching',
      'Block',
      'BlockResult',
      'Charge',
      'ChargeResult',
      'CommonStoreOptions',
      'CompareAndSwapOptions',
      'DocumentRequest',
      'Documents',
      'Forget',
      'ForgetResult',
      'KeyedPolicy',
      'LockedStates',
      'MaybePromise',
      'Operation',
      'OperationsMessage',
      'OptimisticOptions',
      'OptimisticTransaction',
      'Outcome',
      'OutcomesMessage',
      'OwnerStoreOptions',
      'Part',
      'PartResult',
      'Policy',
      'ReadState',
      'ReadStored',
      'Refund',
      'RefundResult',
      'Renew',
      'RenewResult',
      'Result',
      'ResultOf',
      'Reward',
      'RewardResult',
      'Standing',
      'State',
      'StateWrite',
      'Step',
      'Store',
      'StoreOrigin',
      'StoredDocument',
      'StoredState',
      'Swap',
      'Take',
      'TakeResult',
      'TransactionOptions',
      'TransactionWrite',
    ],
    includesHttp: false,
  },
  'headgate/nest': {
    values: [
      'RateLimit',
      'RateLimitException',
      'RateLimitFilter',
      'RateLimitGuard',
      'RateLimitModule',
      'RateLimiters',
      'SkipRateLimit',
      'loginGuard',
      'overloadGuard',
    ],
    types: [...GUARD_TYPES, 'RateLimitModuleOptions'],
    includesHttp: true,
  },
  'headgate/express-rate-limit': {
    values: [
      'DAY',
      'HOUR',
      'MINUTE',
      'MemoryStore',
      'SECOND',
      'ValidationError',
      'default',
      'ipKeyGenerator',
      'rateLimit',
    ],
    types: [
      'AugmentedRequest',
      'Client',
      'ClientRateLimitInfo',
      'DraftHeadersVersion',
      'EnabledValidations',
      'GivenOptions',
      'IncrementCallback',
      'IncrementResponse',
      'LegacyStore',
      'Logger',
      'LoggerFn',
      'Options',
      'RateLimitExceededEventHandler',
      'RateLimitInfo',
      'RateLimitReachedEventHandler',
      'RateLimitRequestHandler',
      'Store',
      'ValueDeterminingMiddleware',
    ],
    includesHttp: false,
  },
  'headgate/metrics': {
    values: ['openTelemetryMetrics', 'prometheusMetrics'],
    types: [],
    includesHttp: false,
  },
  'headgate/dashboard': {
    values: ['dashboard'],
    types: ['Dashboard', 'DashboardOptions'],
    includesHttp: false,
  },
  'headgate/testing': {
    values: ['manualClock', 'serveStore', 'storeConformance', 'storeExactness'],
    types: [
      'Capabilities',
      'ConformanceSetup',
      'ExactnessSetup',
      'ManualClock',
      'StoreUnderTest',
      'TestCase',
    ],
    includesHttp: false,
  },
}

test('the list has each entry', () => {
  expect(Object.keys(NAMES).sort()).toEqual(ENTRIES.map(({ specifier }) => specifier).sort())
})

test.each(ENTRIES)('$specifier exports the names of the list', ({ name, specifier }) => {
  expect(exportedNames(name)).toEqual(NAMES[specifier])
})

test.each(ENTRIES)('$specifier has its values when it runs', async ({ name }) => {
  const { values, includesHttp } = exportedNames(name)
  const module: object = await import(join(ROOT, 'src', `${name}.ts`))
  const all = [...values, ...(includesHttp ? exportedNames('http').values : [])]
  const isOfInterop = (key: string) => key === '__esModule' || (key === 'default' && !values.includes(key))
  const keys = Object.keys(module).filter((key) => !isOfInterop(key))
  expect(keys.sort()).toEqual([...new Set(all)].sort())
})

test('the page about entries has the functions, classes and constants of the list', () => {
  const page = readFileSync(join(ROOT, 'docs/entries.md'), 'utf8')
  const section = page.slice(page.indexOf('\n## What each entry exports\n'))
  const rows = [...section.matchAll(/^\| (`headgate.*?) \| (.*) \| .* \|$/gm)]
  const named = rows.flatMap(([, entries = '', values = '']) => {
    const includesHttp = values.startsWith('all of `headgate/http`')
    const specifiers = [...entries.matchAll(/`(headgate[\w/-]*)`/g)].map((match) => match[1] as string)
    return specifiers.map((specifier) => [specifier, { values: namesOf(values), includesHttp }])
  })
  const listed = Object.entries(NAMES).map(([specifier, { values, includesHttp }]) => [
    specifier,
    { values, includesHttp },
  ])
  expect(Object.fromEntries(named)).toEqual(Object.fromEntries(listed))
})

/** Returns the names in backticks, except those of entries. */
function namesOf(cell: string): string[] {
  return [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1] as string)
}
