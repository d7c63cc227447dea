"""Scrapy's duplicate filter in a store: a later crawl requests only what is new.

In settings.py, with this file in the project:

    DUPEFILTER_CLASS = "dupefilter.StoreDupeFilter"
    MALKOHA_SEEN = "seen"       # the directory of the store

It is exact: no page is left out because its address resembles another one. A request counts as seen
when it is scheduled, as in Scrapy's own filter. With JOBDIR, scheduled requests survive a stop.
"""

from scrapy.dupefilters import BaseDupeFilter

from malkoha import Store


class StoreDupeFilter(BaseDupeFilter):
    def __init__(self, path, crawler):
        self.path, self.crawler = path, crawler

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings.get("MALKOHA_SEEN", "seen"), crawler)

    def open(self):
        self.store = Store(self.path)

    def request_seen(self, request):
        fingerprint = self.crawler.request_fingerprinter.fingerprint(request)
        return not self.store.put_if_absent(fingerprint, b"")

    def log(self, request, spider):
        self.crawler.stats.inc_value("dupefilter/filtered")

    def close(self, reason):
        self.store.close()
