import app from 'app'

const port = Number(Bun.argv[2])
Bun.serve({ fetch: (request, server) => app.fetch(request, server), port, hostname: '127.0.0.1' })
console.log('listening')
