import { byUser, type FetchInfo, memoryStore, type RateLimitOptions, rateLimit } from 'headgate/fetch'
import { recordWarnings } from '../../support/warnings.js'

/** How the frameworks that have no server of their own in these tests call an application. */
recordWarnings()

function limiterOf<Info extends FetchInfo>(options: Partial<RateLimitOptions<Info>> = {}) {
  return rateLimit<Info>({ limit: 2, window: '1m', store: memoryStore({ clock: () => 0 }), ...options })
}

const BASE = 'http://localhost'
const remaining = ({ headers }: Response) => headers.get('x-ratelimit-remaining')

/** Sends three requests; returns the status and the remaining quota of each response. */
async function sendThree(send: () => Promise<Response>): Promise<unknown[]> {
  const seen: unknown[] = []
  for (let i = 0; i < 3; i++) {
    const response = await send()
    seen.push([response.status, remaining(response)])
  }
  return seen
}

describe('Next.js', () => {
  test('a route handler', async () => {
    const limit = limiterOf()
    const ipOf = (request: Request) => request.headers.get('x-real-ip')

    async function POST(request: Request): Promise<Response> {
      return limit.handle(request, { ip: ipOf(request) }, async () => {
        const { name } = (await request.json()) as { name: string }
        return Response.json({ name }, { status: 201 })
      })
    }

    const post = () => {
      const headers = { 'x-real-ip': '192.0.2.1' }
      return POST(new Request(BASE, { method: 'POST', headers, body: '{"name":"ada"}' }))
    }
    expect(await sendThree(post)).toEqual([
      [201, '1'],
      [201, '0'],
      [429, '0'],
    ])
  })

  test('middleware, which returns a response that says to go on', async () => {
    const limit = limiterOf()
    const next = () => new Response(null, { headers: { 'x-middleware-next': '1' } }) // as NextResponse.next()

    async function middleware(request: Request): Promise<Response> {
      const refused = await limit(request, { ip: request.headers.get('x-real-ip') })
      return refused ?? limit.finish(request, next())
    }

    const send = () => middleware(new Request(BASE, { headers: { 'x-real-ip': '192.0.2.1' } }))
    expect((await send()).headers.get('x-middleware-next')).toBe('1')
    expect(await sendThree(send)).toEqual([
      [200, '0'],
      [429, '0'],
      [429, '0'],
    ])
  })
})

describe('SvelteKit', () => {
  /** What a hook reads of SvelteKit's `RequestEvent`. */
  interface Event {
    request: Request
    locals: { user?: { id: string } }
    route: { id: string | null }
    getClientAddress(): string
  }

  test('a handle hook', async () => {
    const limit = limiterOf({ key: byUser() })
    const handle = ({ event, resolve }: { event: Event; resolve: (event: Event) => Promise<Response> }) =>
      limit.handle(
        event.request,
        { ip: event.getClientAddress(), user: event.locals.user, route: event.route.id },
        () => resolve(event),
      )

    const sendAs = (id: string) => () => {
      const event = {
        request: new Request(BASE),
        locals: { user: { id } },
        route: { id: '/users/[id]' },
        getClientAddress: () => '192.0.2.1',
      }
      return handle({ event, resolve: async () => Response.redirect(`${BASE}/login`, 302) })
    }
    const limited = [
      [302, '1'],
      [302, '0'],
      [429, '0'],
    ]
    expect(await sendThree(sendAs('ada'))).toEqual(limited)
    expect(await sendThree(sendAs('bob'))).toEqual(limited)
  })
})

describe('Remix', () => {
  const redirect = (to: string) => new Response(null, { status: 302, headers: { Location: to } })

  test('an action that throws a redirect counts failed logins alone', async () => {
    const limit = limiterOf<{ ip: string; body: FormData }>({ count: 'failed' })

    async function action({ request, context }: { request: Request; context: { ip: string } }) {
      const body = await request.clone().formData()
      return limit.handle(request, { ip: context.ip, body }, () => {
        if (body.get('password') === 'right') throw redirect('/home')
        return new Response('wrong', { status: 401 })
      })
    }

    const send = (password: string) => {
      const body = new URLSearchParams({ password })
      const request = new Request(BASE, { method: 'POST', body })
      return action({ request, context: { ip: '192.0.2.1' } }).catch((thrown) => thrown as Response)
    }
    const full = [302, '1']
    expect(await sendThree(() => send('right'))).toEqual([full, full, full])
    expect(await sendThree(() => send('wrong'))).toEqual([
      [401, '1'],
      [401, '0'],
      [429, '0'],
    ])
  })

  test('a loader that streams', async () => {
    const limit = limiterOf()
    const streamed = () => new Response(new Blob(['a', 'b']).stream())
    const loader = (request: Request) => limit.handle(request, { ip: '192.0.2.1' }, streamed)
    const response = await loader(new Request(BASE))
    expect([await response.text(), remaining(response)]).toEqual(['ab', '1'])
  })
})
