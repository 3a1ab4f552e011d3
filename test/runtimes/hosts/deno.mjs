import app from 'app'

const [port] = Deno.args
Deno.serve({ port: Number(port), hostname: '127.0.0.1', onListen: () => console.log('listening') }, app.fetch)
