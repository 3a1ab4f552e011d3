import fastify from 'fastify'
import { rateLimit } from 'headgate/fastify'

const app = fastify()
await app.register(rateLimit, { limit: 5, window: '1h' })

app.get('/', () => 'hello')

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
