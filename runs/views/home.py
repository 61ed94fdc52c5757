"""The first page: what waits, what runs, what is new."""

from django.shortcuts import render


def home(request):
    return render(request, "home.html")
