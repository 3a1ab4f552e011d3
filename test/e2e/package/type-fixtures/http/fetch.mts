// Handlers of the Fetch standard. What the platform knows of a request is the type of all callbacks.
import {
  byIp,
  byUser,
  candidateLimits,
  type Decision,
  type FetchInfo,
  type FetchSubject,
  type LoginGuard,
  type LoginGuardOptions,
  loginGuard,
  type MiddlewareLimiter,
  type RateLimit,
  type RateLimitOptions,
  rateLimit,
  requestDelay,
  responseCost,
} from 'headgate/fetch'

interface Info extends FetchInfo {
  user?: { id: string }
  tenant: string
}

const options: RateLimitOptions<Info> = {
  limit: 2,
  window: '1m',
  key: [byIp(), byUser(), ({ tenant, request }) => tenant + request.url],
  skip: ({ user }) => user?.id === 'ada',
  cost: async ({ request }) => (request.method === 'GET' ? 1 : 2),
  count: (subject, response) => response.status < 400 && subject.tenant !== '',
  onDenied: ({ tenant }, { retryAfterMs }) => Response.json({ tenant, retryAfterMs }, { status: 429 }),
}

export const limit: RateLimit<Info> = rateLimit(options)
export const limiter: MiddlewareLimiter<FetchSubject<Info>> = limit.limiter
export const perUser = rateLimit<Info>({
  limit: 2,
  window: '1m',
  key: byUser(({ user }: FetchSubject<Info>) => user?.id, { anonymous: byIp() }),
})
export const plain = rateLimit({ limit: 2, window: '1m', key: byUser(({ request }) => request.url) })

const guardOptions: LoginGuardOptions<Info> = {
  account: ({ user }) => user?.id,
  succeeded: ({ tenant }, response) => response.status === 204 && tenant !== '',
  onDenied: ({ tenant }) => new Response(tenant, { status: 429 }),
}
export const guard: LoginGuard<Info> = loginGuard(guardOptions)
export const plainGuard = loginGuard({ field: 'username', skip: ({ request }) => request.url === '/' })
guard.events.on('security', (event, { tenant }) => console.log(event.event, tenant))

export async function handle(request: Request): Promise<Response> {
  const info = { ip: null, tenant: 'x', waitUntil: (work: Promise<unknown>) => void work }
  const refused: Response | undefined = await limit(request, info)
  if (refused !== undefined) return refused
  const decision: Decision | undefined = limit.decisionOf(request)
  const response = limit.finish(request, new Response(decision?.limitName))
  return plain.handle(request, { ip: '192.0.2.1' }, () => response)
}

export const mistakes = [
  // @ts-expect-error the tenant is missing
  (request: Request) => limit(request, { ip: '192.0.2.1' }),
  // @ts-expect-error what the platform knows is missing
  (request: Request) => plain(request),
  // @ts-expect-error no address
  (request: Request) => plain(request, { ip: 7 }),
  // @ts-expect-error there is no such property
  () => rateLimit({ limit: 2, window: '1m', key: ({ tenant }) => tenant }),
  // @ts-expect-error there is no response yet
  () => rateLimit({ limit: 2, window: '1m', skip: (_subject, response) => response.ok }),
  // @ts-expect-error a response is missing
  () => rateLimit({ limit: 2, window: '1m', onDenied: () => undefined }),
]

export const imported = rateLimit({
  limit: 2,
  window: '1m',
  candidate: candidateLimits({ limit: 2, window: '1m', key: ({ request }) => request.url }),
  delay: requestDelay({ after: 1, by: (used, { request }) => used * request.url.length }),
  actualCost: responseCost(({ request }, response) => request.url.length + response.status),
})
export const importedForInfo = rateLimit<Info>({
  limit: 2,
  window: '1m',
  candidate: candidateLimits({ limit: 2, window: '1m', key: ({ tenant }: FetchSubject<Info>) => tenant }),
  actualCost: responseCost(({ tenant }: FetchSubject<Info>, response) => tenant.length + response.status),
})
