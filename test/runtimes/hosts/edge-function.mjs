import app from 'app'

addEventListener('fetch', (event) => event.respondWith(app.fetch(event.request, event)))
