import { rateLimit } from 'headgate/fetch'

const limit = rateLimit({ limit: 5, window: '1h' })

interface Context {
  waitUntil(work: Promise<unknown>): void
}

export default {
  fetch: (request: Request, _env: unknown, ctx: Context) =>
    limit.handle(
      request,
      { ip: request.headers.get('cf-connecting-ip'), waitUntil: (work) => ctx.waitUntil(work) },
      () => new Response('hello'),
    ),
}
