import app from 'app'

Bun.serve({
  fetch: (request, server) => app.fetch(request, server),
  port: Number(Bun.argv[2]),
  hostname: '127.0.0.1',
  idleTimeout: 255, // seconds, the longest: the store contract takes more than the default of 10
})
console.log('listening')
