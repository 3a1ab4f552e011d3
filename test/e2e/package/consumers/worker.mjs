import { concurrency, fixedWindow, rateLimit } from 'headgate/fetch'

// In the scope of a module, as users write it: no random numbers, timers or time there.
const limit = rateLimit({ limit: 2, window: '1m', headers: 'both' })
const failures = rateLimit({
  name: 'failures',
  limits: [
    { name: 'address', policy: fixedWindow({ limit: 2, window: '1h' }) },
    { name: 'all', policy: fixedWindow({ limit: 9, window: '1h' }), key: () => 'all' },
  ],
  count: 'failed',
  secret: 'a secret of some length',
})

const inFlight = rateLimit({ policy: concurrency({ limit: 1 }) })

const limiters = { '/failures': failures, '/in-flight': inFlight }

export default {
  fetch(request, _env, ctx) {
    const { pathname, searchParams } = new URL(request.url)
    const info = {
      ip: pathname === '/unknown' ? undefined : request.headers.get('cf-connecting-ip'),
      waitUntil: (work) => ctx.waitUntil(work),
    }
    return (limiters[pathname] ?? limit).handle(request, info, () => {
      if (pathname === '/redirect') return Response.redirect('https://example.com/', 302)
      return new Response('hello', { status: Number(searchParams.get('status') ?? 200) })
    })
  },
}
