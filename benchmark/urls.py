"""Addresses of what is measured."""

from django.urls import path

from benchmark import views

app_name = "benchmark"
urlpatterns = [
    path("", views.benchmarks, name="benchmarks"),
    path("<int:benchmark_id>/", views.benchmark, name="benchmark"),
    path("<int:benchmark_id>/files/<int:file_id>/", views.task_file, name="file"),
    path("<int:benchmark_id>/tasks/<str:key>/", views.task, name="task"),
]
