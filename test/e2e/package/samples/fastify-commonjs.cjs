const fastify = require('fastify')

const app = fastify()
// @ts-expect-error: Fastify accepts a module with a plugin as default export. Its types only accept a promise.
app.register(require('headgate/fastify'), { limit: 5, window: '1h' })

app.register(async (routes) => {
  routes.get('/', () => 'hello')
})

app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
