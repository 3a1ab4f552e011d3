const fastify = require('fastify')

const app = fastify()
// @ts-expect-error: Fastify takes a module whose default export is a plugin, but its types only take a promise of one
app.register(require('headgate/fastify'), { limit: 5, window: '1h' })

app.register(async (routes) => {
  routes.get('/', () => 'hello')
})

app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
