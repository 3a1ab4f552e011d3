import fastify from 'fastify'

const app = fastify()
await app.register(import('headgate/fastify'), { limit: 5, window: '1h' })

app.get('/', (request) => ({ remaining: request.rateLimit?.remaining }))
app.get('/health', { config: { rateLimit: false } }, () => 'ok')

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
